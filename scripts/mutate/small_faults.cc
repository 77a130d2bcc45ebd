// A plugin for clang that rewrites a source file so that every small fault one could put into it is
// there at once, each behind a number that is chosen when the program runs (small_faults.h). So
// thousands of faults cost one build.
//
//   clang++ … -fsyntax-only -fplugin=small_faults.so -Xclang -plugin -Xclang small-faults
//       -Xclang -plugin-arg-small-faults -Xclang out=FILE      where the rewritten file goes
//       … of=FILE       what is rewritten: the source, or a header that it includes (default: the
//       source) … base=N        the first number to give … skip=12,40    lines that are left as
//       they are (their faults did not compile)
//
// Prints a line per fault: its number, line, what it does, and the text it does it to.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

using namespace clang;

namespace {

struct Options {
  std::string out;
  std::string of;
  int base = 0;
  std::set<unsigned> skip;
};

struct Edit {
  unsigned offset;
  int order;  // what ends at a place comes before what begins there
  std::size_t sequence;
  unsigned removed;
  std::string text;
};

class Rewriting : public RecursiveASTVisitor<Rewriting> {
 public:
  Rewriting(ASTContext& context, FileID file, const Options& options)
      : sources_(context.getSourceManager()),
        language_(context.getLangOpts()),
        file_(file),
        options_(options),
        next_(options.base) {}

  bool VisitFunctionDecl(FunctionDecl* function) {
    if (!function->isThisDeclarationADefinition() || function->isConstexprSpecified() ||
        function->isDefaulted())
      return true;
    if (sources_.getFileID(sources_.getExpansionLoc(function->getLocation())) != file_) return true;
    if (const auto* method = dyn_cast<CXXMethodDecl>(function);
        method && method->getParent()->isLambda())
      return true;
    if (auto* constructor = dyn_cast<CXXConstructorDecl>(function))
      for (CXXCtorInitializer* init : constructor->inits())
        if (init->isWritten()) walk(init->getInit());
    walk(function->getBody());
    return true;
  }

  std::string result() {
    std::string text = sources_.getBufferData(file_).str();
    std::ranges::sort(edits_, [](const Edit& a, const Edit& b) {
      return std::tie(a.offset, a.order, a.sequence) < std::tie(b.offset, b.order, b.sequence);
    });
    std::string out = "#include \"small_faults.h\"\n#line 1\n";
    unsigned at = 0;
    for (const Edit& edit : edits_) {
      out += text.substr(at, edit.offset - at);
      out += edit.text;
      at = edit.offset + edit.removed;
    }
    return out + text.substr(at);
  }

 private:
  // Places.

  struct Place {
    unsigned begin = 0, end = 0, line = 0;
  };
  // The text of a node, if it is written in this file as it stands and not inside a macro's
  // arguments.
  bool place_of(SourceRange range, Place& place) const {
    if (range.isInvalid() || range.getBegin().isMacroID() || range.getEnd().isMacroID())
      return false;
    return place_between(range.getBegin(), range.getEnd(), place);
  }
  bool place_between(SourceLocation from, SourceLocation to, Place& place) const {
    if (sources_.getFileID(from) != file_ || sources_.getFileID(to) != file_) return false;
    place.begin = sources_.getFileOffset(from);
    place.end = sources_.getFileOffset(Lexer::getLocForEndOfToken(to, 0, sources_, language_));
    place.line = sources_.getSpellingLineNumber(from);
    return place.end > place.begin && !options_.skip.contains(place.line);
  }

  int announce(const Place& place, const char* what) {
    std::string text =
        sources_.getBufferData(file_).substr(place.begin, place.end - place.begin).str();
    std::ranges::replace(text, '\n', ' ');
    std::ranges::replace(text, '\t', ' ');
    std::printf("%d\t%u\t%s\t%s\n", next_, place.line, what, text.substr(0, 160).c_str());
    return next_++;
  }
  void open(unsigned offset, std::string text) {
    edits_.push_back({offset, 1, sequence_++, 0, std::move(text)});
  }
  void close(unsigned offset, std::string text) {
    edits_.push_back({offset, 0, sequence_++, 0, std::move(text)});
  }
  void replace(unsigned offset, unsigned removed, std::string text) {
    edits_.push_back({offset, 1, sequence_++, removed, std::move(text)});
  }
  static std::string call(const char* name, int id) {
    return std::string("muster_faults::") + name + "(" + std::to_string(id) + ", ";
  }

  // Conditions.

  static const Expr* bare(const Expr* expr) { return expr->IgnoreParenImpCasts(); }

  // Something that is true or false: always, never. The operands of && and || instead of the whole.
  void condition(Expr* expr, bool may_hold = true) {
    if (!expr) return;
    Expr* inner = expr->IgnoreParenImpCasts();
    if (auto* both = dyn_cast<BinaryOperator>(inner); both && both->isLogicalOp()) {
      condition(both->getLHS());
      condition(both->getRHS());
      return;
    }
    Place place;
    const bool is_literal = isa<CXXBoolLiteralExpr>(inner);
    if (is_literal || !place_of(inner->getSourceRange(), place)) return walk(inner);
    const bool needs_parentheses = isa<ConditionalOperator>(inner);
    std::string before, after;
    if (may_hold) before += call("yes", announce(place, "always")), after += ")";
    before += call("no", announce(place, "never")), after += ")";
    open(place.begin, before + (needs_parentheses ? "(" : ""));
    walk(inner);
    close(place.end, (needs_parentheses ? ")" : "") + after);
  }

  // Statements.

  static bool worth_leaving_out(const Expr* expr) {
    const Expr* inner = expr->IgnoreParenImpCasts();
    if (const auto* cleanups = dyn_cast<ExprWithCleanups>(expr))
      return worth_leaving_out(cleanups->getSubExpr());
    if (const auto* call = dyn_cast<CallExpr>(inner)) {
      const auto* callee = dyn_cast_or_null<NamedDecl>(call->getCalleeDecl());
      if (!callee) return true;
      static const std::set<std::string> idle = {"reserve", "shrink_to_fit", "debug", "info",
                                                 "warn",    "warning",       "error"};
      return !callee->getDeclName().isIdentifier() || !idle.contains(callee->getName().str());
    }
    if (const auto* binary = dyn_cast<BinaryOperator>(inner)) return binary->isAssignmentOp();
    if (const auto* unary = dyn_cast<UnaryOperator>(inner)) return unary->isIncrementDecrementOp();
    return isa<StmtExpr>(inner);
  }

  // A statement of a block or the body of an if or a loop.
  void statement(Stmt* stmt, bool in_loop) {
    if (!stmt) return;
    const char* what = nullptr;
    if (auto* expr = dyn_cast<Expr>(stmt); expr && worth_leaving_out(expr)) what = "left out";
    if (isa<ContinueStmt>(stmt) || (isa<BreakStmt>(stmt) && in_loop)) what = "left out";
    if (auto* leaves = dyn_cast<ReturnStmt>(stmt); leaves && !leaves->getRetValue())
      what = "left out";
    Place place;
    const CharSourceRange spelled = sources_.getExpansionRange(stmt->getSourceRange());
    bool wraps = what && place_between(spelled.getBegin(), spelled.getEnd(), place);
    if (wraps && stmt->getBeginLoc().isMacroID()) {
      const std::string macro = Lexer::getSourceText(CharSourceRange::getTokenRange(
                                                         spelled.getBegin(), spelled.getBegin()),
                                                     sources_, language_)
                                    .str();
      wraps = macro == "TRY";
    }
    SourceLocation after;
    if (wraps) {
      after =
          Lexer::findLocationAfterToken(spelled.getEnd(), tok::semi, sources_, language_, false);
      wraps = after.isValid();
    }
    if (!wraps) return walk(stmt, in_loop);
    open(place.begin, "{ if (!muster_faults::on(" + std::to_string(announce(place, what)) + ")) ");
    walk(stmt, in_loop);
    close(sources_.getFileOffset(after), " }");
  }

  // Expressions.

  bool operator_call(const char* name, const char* what, Expr* whole, SourceLocation op, Expr* left,
                     Expr* right) {
    Place place, sign;
    if (op.isMacroID() || !place_of(whole->getSourceRange(), place) ||
        !place_of(SourceRange(op, op), sign))
      return false;
    open(place.begin, call(name, announce(place, what)));
    walk(left);
    replace(sign.begin, sign.end - sign.begin, ",");
    walk(right);
    close(place.end, ")");
    return true;
  }
  static const char* relational(BinaryOperatorKind kind) {
    switch (kind) {
      case BO_LT: return "lt";
      case BO_LE: return "le";
      case BO_GT: return "gt";
      case BO_GE: return "ge";
      default: return nullptr;
    }
  }
  static const char* arithmetic(BinaryOperatorKind kind) {
    switch (kind) {
      case BO_Add: return "add";
      case BO_Sub: return "sub";
      case BO_Mul: return "mul";
      case BO_Div: return "quo";
      case BO_Rem: return "rem";
      default: return nullptr;
    }
  }
  static bool is_ordering(const Expr* expr) {
    return expr->getType().getAsString().find("ordering") != std::string::npos;
  }
  static bool is_number(const Expr* expr) {
    return !expr->isTypeDependent() && expr->getType()->isArithmeticType();
  }
  void wrapped(Expr* expr, const char* name, const char* what) {
    Place place;
    if (!place_of(expr->getSourceRange(), place)) return walk(expr, false, true);
    open(place.begin, call(name, announce(place, what)));
    walk(expr, false, true);
    close(place.end, ")");
  }

  void walk_children(Stmt* stmt, bool in_loop) {
    for (Stmt* child : stmt->children())
      if (child) walk(child, in_loop);
  }

  void walk(Stmt* stmt, bool in_loop = false, bool is_wrapped = false) {
    if (!stmt) return;
    if (auto* block = dyn_cast<CompoundStmt>(stmt)) {
      for (Stmt* child : block->body()) statement(child, in_loop);
      return;
    }
    if (auto* branch = dyn_cast<IfStmt>(stmt)) {
      walk(branch->getInit());
      if (branch->getConditionVariable())
        walk(branch->getConditionVariableDeclStmt());
      else if (!branch->isConstexpr())
        condition(branch->getCond());
      statement(branch->getThen(), in_loop);
      statement(branch->getElse(), in_loop);
      return;
    }
    if (auto* loop = dyn_cast<WhileStmt>(stmt)) {
      if (loop->getConditionVariable())
        walk(loop->getConditionVariableDeclStmt());
      else
        condition(loop->getCond(), false);
      return statement(loop->getBody(), true);
    }
    if (auto* loop = dyn_cast<DoStmt>(stmt)) {
      condition(loop->getCond(), false);
      return statement(loop->getBody(), true);
    }
    if (auto* loop = dyn_cast<ForStmt>(stmt)) {
      walk(loop->getInit());
      if (!loop->getConditionVariable()) condition(loop->getCond(), false);
      return statement(loop->getBody(), true);
    }
    if (auto* loop = dyn_cast<CXXForRangeStmt>(stmt)) {
      walk(loop->getInit());
      walk(loop->getRangeInit());
      return statement(loop->getBody(), true);
    }
    if (auto* choice = dyn_cast<SwitchStmt>(stmt)) {
      walk(choice->getInit());
      walk(choice->getCond());
      return walk(choice->getBody(), false);
    }
    if (auto* label = dyn_cast<CaseStmt>(stmt)) return statement(label->getSubStmt(), false);
    if (auto* label = dyn_cast<DefaultStmt>(stmt)) return statement(label->getSubStmt(), false);
    if (auto* attributed = dyn_cast<AttributedStmt>(stmt))
      return statement(attributed->getSubStmt(), in_loop);
    if (auto* leaves = dyn_cast<ReturnStmt>(stmt)) {
      Expr* value = leaves->getRetValue();
      if (!value) return;
      const Expr* inner = bare(value);
      if (!value->isTypeDependent() && value->getType()->isBooleanType() &&
          !isa<CXXBoolLiteralExpr>(inner))
        return condition(value);
      if (is_number(value) && value->getType()->isIntegerType() &&
          !value->getType()->isBooleanType() && !value->getType()->isEnumeralType() &&
          !isa<InitListExpr>(inner))
        return wrapped(value->IgnoreImpCasts(), "more", "one more");
      return walk(value);
    }
    if (auto* declares = dyn_cast<DeclStmt>(stmt)) {
      for (Decl* decl : declares->decls())
        if (auto* variable = dyn_cast<VarDecl>(decl);
            variable && variable->hasInit() && !variable->isConstexpr())
          initial(variable);
      return;
    }
    if (auto* expr = dyn_cast<Expr>(stmt)) return expression(expr, is_wrapped);
    walk_children(stmt, in_loop);
  }

  void initial(VarDecl* variable) {
    Expr* init = variable->getInit();
    const QualType type = variable->getType();
    // A constant may size an array or stand in a template's arguments.
    if (type.isConstQualified() && !type->isDependentType() && type->isIntegerType() &&
        isa<IntegerLiteral>(bare(init)))
      return;
    if (!type->isDependentType() && type->isBooleanType() && !isa<CXXBoolLiteralExpr>(bare(init)) &&
        !isa<InitListExpr>(bare(init)))
      return condition(init);
    walk(init);
  }

  void expression(Expr* expr, bool is_wrapped) {
    if (isa<ConstantExpr>(expr) || isa<UnaryExprOrTypeTraitExpr>(expr) ||
        isa<CXXDefaultArgExpr>(expr) || isa<CXXDefaultInitExpr>(expr) ||
        isa<CXXNoexceptExpr>(expr) || isa<RequiresExpr>(expr))
      return;
    if (auto* lambda = dyn_cast<LambdaExpr>(expr)) {
      for (Expr* init : lambda->capture_inits())
        if (init) walk(init);
      return walk(lambda->getBody());
    }
    if (auto* list = dyn_cast<InitListExpr>(expr)) {
      if (list->isSemanticForm() && list->getSyntacticForm()) list = list->getSyntacticForm();
      const bool outer = std::exchange(in_braces_, true);
      walk_children(list, false);
      in_braces_ = outer;
      return;
    }
    if (auto* made = dyn_cast<CXXConstructExpr>(expr); made && made->isListInitialization()) {
      const bool outer = std::exchange(in_braces_, true);
      walk_children(made, false);
      in_braces_ = outer;
      return;
    }
    if (auto* binary = dyn_cast<BinaryOperator>(expr)) return binary_operator(binary);
    if (auto* rewritten = dyn_cast<CXXRewrittenBinaryOperator>(expr)) {
      const auto form = rewritten->getDecomposedForm();
      Expr* left = const_cast<Expr*>(form.LHS);
      Expr* right = const_cast<Expr*>(form.RHS);
      const char* name = relational(form.Opcode);
      if (name && operator_call(name, "boundary", expr, rewritten->getOperatorLoc(), left, right))
        return;
      walk(left);
      return walk(right);
    }
    if (auto* call = dyn_cast<CXXOperatorCallExpr>(expr); call && call->getNumArgs() == 2) {
      const char* name = nullptr;
      switch (call->getOperator()) {
        case OO_Less: name = "lt"; break;
        case OO_LessEqual: name = "le"; break;
        case OO_Greater: name = "gt"; break;
        case OO_GreaterEqual: name = "ge"; break;
        default: break;
      }
      if (name && !is_ordering(call->getArg(0)) && !is_ordering(call->getArg(1)) &&
          operator_call(name, "boundary", expr, call->getOperatorLoc(), call->getArg(0),
                        call->getArg(1)))
        return;
    }
    if (auto* choice = dyn_cast<ConditionalOperator>(expr)) {
      condition(choice->getCond());
      walk(choice->getTrueExpr());
      return walk(choice->getFalseExpr());
    }
    if (auto* negation = dyn_cast<UnaryOperator>(expr);
        negation && negation->getOpcode() == UO_LNot)
      return walk(negation->getSubExpr());
    if (auto* literal = dyn_cast<CXXBoolLiteralExpr>(expr)) {
      if (is_wrapped) return;
      return wrapped(expr, literal->getValue() ? "no" : "yes", "the opposite");
    }
    if (auto* cast = dyn_cast<ImplicitCastExpr>(expr);
        cast && cast->getCastKind() == CK_NullToPointer)
      return;
    if (isa<UserDefinedLiteral>(expr)) {
      if (!is_wrapped && !in_braces_ && !expr->getType()->isPointerType() &&
          expr->getType().getAsString().find("duration") != std::string::npos)
        wrapped(expr, "twice", "twice");
      return;
    }
    if (isa<IntegerLiteral>(expr)) {
      if (!is_wrapped && !in_braces_) wrapped(expr, "more", "one more");
      return;
    }
    if (auto* call = dyn_cast<CallExpr>(expr)) {
      const FunctionDecl* callee = call->getDirectCallee();
      if (callee && callee->isInStdNamespace() && callee->getDeclName().isIdentifier() &&
          call->getNumArgs() == 2 && (callee->getName() == "min" || callee->getName() == "max")) {
        Place name, whole;
        const auto* ref = dyn_cast<DeclRefExpr>(call->getCallee()->IgnoreImpCasts());
        if (ref && place_of(expr->getSourceRange(), whole) &&
            place_of(SourceRange(ref->getBeginLoc(), ref->getLocation()), name)) {
          const bool is_min = callee->getName() == "min";
          const int id = announce(whole, "the other of the two");
          replace(name.begin, name.end - name.begin,
                  std::string("muster_faults::") + (is_min ? "Min<" : "Max<") + std::to_string(id) +
                      ">::of");
        }
        for (Expr* argument : call->arguments()) walk(argument);
        return;
      }
    }
    walk_children(expr, false);
  }

  void binary_operator(BinaryOperator* binary) {
    Expr* left = binary->getLHS();
    Expr* right = binary->getRHS();
    if (binary->isLogicalOp()) return condition(binary);
    if (const char* name = relational(binary->getOpcode());
        name && !is_ordering(left) && !is_ordering(right)) {
      // A literal that is compared with is moved by the boundary already.
      Expr* left_side = isa<IntegerLiteral>(bare(left)) ? nullptr : left;
      Expr* right_side = isa<IntegerLiteral>(bare(right)) ? nullptr : right;
      if (operator_call(name, "boundary", binary, binary->getOperatorLoc(), left_side, right_side))
        return;
    }
    if (const char* name = arithmetic(binary->getOpcode());
        name && !in_braces_ && is_number(left) && is_number(right) && is_number(binary)) {
      if (operator_call(name, "wrong operator", binary, binary->getOperatorLoc(), left, right))
        return;
    }
    if (binary->isEqualityOp()) {
      if (!isa<IntegerLiteral>(bare(left))) walk(left);
      if (!isa<IntegerLiteral>(bare(right))) walk(right);
      return;
    }
    walk(left);
    walk(right);
  }

  SourceManager& sources_;
  const LangOptions& language_;
  FileID file_;
  const Options& options_;
  int next_;
  bool in_braces_ = false;
  std::size_t sequence_ = 0;
  std::vector<Edit> edits_;
};

class Consumer final : public ASTConsumer {
 public:
  explicit Consumer(Options options) : options_(std::move(options)) {}
  void HandleTranslationUnit(ASTContext& context) override {
    SourceManager& sources = context.getSourceManager();
    FileID file = sources.getMainFileID();
    if (!options_.of.empty()) {
      auto entry = sources.getFileManager().getFileRef(options_.of);
      if (!entry) return llvm::consumeError(entry.takeError());
      file = sources.translateFile(*entry);
    }
    if (file.isInvalid()) return;
    Rewriting rewriting(context, file, options_);
    std::vector<Decl*> ours;
    for (Decl* decl : context.getTranslationUnitDecl()->decls())
      if (decl->getLocation().isValid() && !sources.isInSystemHeader(decl->getLocation()))
        ours.push_back(decl);
    for (Decl* decl : ours) rewriting.TraverseDecl(decl);
    std::FILE* out = std::fopen(options_.out.c_str(), "w");
    const std::string text = rewriting.result();
    std::fwrite(text.data(), 1, text.size(), out);
    std::fclose(out);
  }

 private:
  Options options_;
};

class Action final : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Consumer>(options_);
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>& args) override {
    for (const std::string& arg : args) {
      if (arg.starts_with("out=")) options_.out = arg.substr(4);
      if (arg.starts_with("of=")) options_.of = arg.substr(3);
      if (arg.starts_with("base=")) options_.base = std::stoi(arg.substr(5));
      if (arg.starts_with("skip=")) {
        llvm::SmallVector<llvm::StringRef> lines;
        llvm::StringRef(arg).substr(5).split(lines, ',', -1, false);
        for (llvm::StringRef line : lines) options_.skip.insert(std::stoi(line.str()));
      }
    }
    return !options_.out.empty();
  }

 private:
  Options options_;
};

const FrontendPluginRegistry::Add<Action> kAction("small-faults",
                                                  "every small fault, each behind a number");

}  // namespace
