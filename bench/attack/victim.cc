#include "victim.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/check.h"
#include "base/time.h"

namespace muster::attack {
namespace {

constexpr int kNice = -15;
constexpr rlim_t kAddressSpace = rlim_t{6} << 30U;

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// A line of /proc/PID/status, in MiB.
double memory_line(pid_t pid, std::string_view name) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(in, line)) {
    if (!line.starts_with(name)) continue;
    return std::strtod(line.c_str() + name.size() + 1, nullptr) / 1024;
  }
  return 0;
}

// Ends with the thread that started it, however that ends.
[[noreturn]] void run(const std::vector<std::string>& words, const std::string& log,
                      std::size_t descriptors, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  const int out = ::open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  const rlimit space{.rlim_cur = kAddressSpace, .rlim_max = kAddressSpace};
  ::setrlimit(RLIMIT_AS, &space);
  if (descriptors > 0) {
    const rlimit files{.rlim_cur = descriptors, .rlim_max = descriptors};
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

pid_t launch(const std::vector<std::string>& words, const std::string& log,
             std::size_t descriptors) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  CHECK_THAT(pid >= 0, "cannot fork");
  if (pid == 0) run(words, log, descriptors, parent);
  return pid;
}

}  // namespace

void step_forward() {
  static_cast<void>(::setsid());
  std::ofstream("/proc/self/autogroup") << kNice;
  ::setpriority(PRIO_PROCESS, 0, kNice);
}

Victim::Victim(const Options& options) : program_(options.program) {
  directory_ = (std::filesystem::temp_directory_path() / "muster-attack.XXXXXX").string();
  CHECK_THAT(::mkdtemp(directory_.data()) != nullptr, "cannot make {}", directory_);
  start(options);
  await_start();
}

Victim::~Victim() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void Victim::start(const Options& options) {
  std::vector<std::string> words = {program_,
                                    "up",
                                    "--listen",
                                    "127.0.0.1:0",
                                    "--data-dir",
                                    directory_ + "/data",
                                    "--write-kubeconfig",
                                    directory_ + "/kubeconfig"};
  words.insert(words.end(), options.flags.begin(), options.flags.end());
  pid_ = launch(words, directory_ + "/log", options.descriptors);
}

void Victim::await_start() {
  constexpr std::string_view kServes = "serves on https://127.0.0.1:";
  for (int i = 0; i < 600 && alive(); ++i, pause_ms(50)) {
    const std::string log = read_text(directory_ + "/log");
    const std::size_t at = log.find(kServes);
    if (at == std::string::npos || log.find('\n', at) == std::string::npos) continue;
    std::from_chars(log.data() + at + kServes.size(), log.data() + log.size(), endpoint_.port);
    const std::string pki = directory_ + "/data/pki/";
    endpoint_.authority = {.certificate = read_text(pki + "ca.crt"),
                           .private_key = read_text(pki + "ca.key")};
    endpoint_.admin =
        server::make_client_certificate(endpoint_.authority,
                                        {.user = "kubernetes-admin", .groups = {"system:masters"}},
                                        SystemClock().now())
            .value();
    return;
  }
  CHECK_THAT(false, "the server did not start: {}", last_words());
}

Credential Victim::make_user(const std::string& user) const {
  return server::make_client_certificate(endpoint_.authority, {.user = user, .groups = {}},
                                         SystemClock().now())
      .value();
}

bool Victim::alive() {
  if (pid_ > 0 && ::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
  return pid_ > 0;
}

double Victim::stop() {
  if (!alive()) return 0;
  const auto start = std::chrono::steady_clock::now();
  ::kill(pid_, SIGTERM);
  for (int i = 0; i < 6'000 && alive(); ++i) pause_ms(10);
  if (alive()) return -1;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string Victim::last_words() const {
  const std::string log = read_text(directory_ + "/log");
  return log.substr(log.size() > 2'000 ? log.size() - 2'000 : 0);
}

bool Victim::store_is_whole() const {
  const pid_t check = launch({program_, "store", "check", "--data-dir", directory_ + "/data"},
                             directory_ + "/check", 0);
  int status = -1;
  ::waitpid(check, &status, 0);
  return status == 0;
}

double Victim::resident_mib() const { return memory_line(pid_, "VmRSS"); }
double Victim::peak_mib() const { return memory_line(pid_, "VmHWM"); }
void Victim::forget_peak() const {
  std::ofstream("/proc/" + std::to_string(pid_) + "/clear_refs") << "5";
}

}  // namespace muster::attack
