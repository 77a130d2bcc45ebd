// A plugin for clang-tidy that keeps its walk to our code.
//
// clang-tidy 19 runs every check over every declaration a file includes and then drops what was
// found in system headers. The walk through the libraries takes four fifths of the time; this check
// reports nothing and takes it out. (Later versions of clang-tidy do so by themselves.)
#include <clang-tidy/ClangTidyCheck.h>
#include <clang-tidy/ClangTidyModule.h>
#include <clang-tidy/ClangTidyModuleRegistry.h>
#include <clang/AST/ASTContext.h>
#include <clang/ASTMatchers/ASTMatchFinder.h>

#include <vector>

namespace muster::lint {
namespace {

using clang::ast_matchers::MatchFinder;

class OurCodeOnly final : public clang::tidy::ClangTidyCheck {
 public:
  using ClangTidyCheck::ClangTidyCheck;

  // The translation unit is matched before what is in it, and where the walk goes is asked for
  // after.
  void registerMatchers(MatchFinder* finder) override {
    finder->addMatcher(clang::ast_matchers::translationUnitDecl(), this);
  }

  void check(const MatchFinder::MatchResult& result) override {
    const clang::SourceManager& sources = result.Context->getSourceManager();
    std::vector<clang::Decl*> ours;
    for (clang::Decl* decl : result.Context->getTranslationUnitDecl()->decls())
      if (decl->getLocation().isValid() && !sources.isInSystemHeader(decl->getLocation()))
        ours.push_back(decl);
    result.Context->setTraversalScope(ours);
  }
};

class LintModule final : public clang::tidy::ClangTidyModule {
 public:
  void addCheckFactories(clang::tidy::ClangTidyCheckFactories& factories) override {
    factories.registerCheck<OurCodeOnly>("muster-our-code-only");
  }
};

const clang::tidy::ClangTidyModuleRegistry::Add<LintModule> kLintModule("muster", "Our code only");

}  // namespace
}  // namespace muster::lint
