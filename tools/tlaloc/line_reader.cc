#include "tools/tlaloc/line_reader.h"

#include <histedit.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <iostream>

namespace tlaloc::command {

struct LineReader::Editor {
  EditLine* line = nullptr;
  History* history = nullptr;
  std::string prompt;
  bool interrupted = false;

  Editor() {
    std::setlocale(LC_CTYPE, "");  // of the characters that are typed
    line = el_init("tlaloc", stdin, stdout, stderr);
    history = history_init();
    HistEvent event;
    ::history(history, &event, H_SETSIZE, 1000);
    el_set(line, EL_CLIENTDATA, this);
    el_set(line, EL_PROMPT, &prompt_of);
    el_set(line, EL_EDITOR, "emacs");
    el_set(line, EL_HIST, ::history, history);
    // Ctrl-C is a key here, not a signal: it gives up the line.
    el_set(line, EL_SETTY, "-d", "-isig", nullptr);
    // While no line is read it is a signal, which must not lose what was written or typed ahead.
    el_set(line, EL_SETTY, "-x", "+noflsh", nullptr);
    el_set(line, EL_ADDFN, "give-up", "gives up the line", &give_up);
    el_set(line, EL_BIND, "^C", "give-up", nullptr);
    el_set(line, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    // A Ctrl-D that comes while no line is read arrives as a zero byte, which libedit binds to
    // quoting the next key, because a terminal's key for that is off while it edits. (Ctrl-Space is
    // one, too, and sets the mark elsewhere.)
    el_set(line, EL_BIND, "^@", "em-set-mark", nullptr);
  }
  ~Editor() {
    el_end(line);
    history_end(history);
  }

  static Editor& of(EditLine* line) {
    void* data = nullptr;
    el_get(line, EL_CLIENTDATA, &data);
    return *static_cast<Editor*>(data);
  }
  static char* prompt_of(EditLine* line) { return of(line).prompt.data(); }
  static unsigned char give_up(EditLine* line, int) {
    of(line).interrupted = true;
    return CC_EOF;
  }
};

LineReader::LineReader() {
  if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1) editor_ = std::make_unique<Editor>();
}
LineReader::~LineReader() = default;

std::optional<std::string> LineReader::read(const std::string& prompt) {
  std::string text;
  if (!editor_) {
    if (!std::getline(std::cin, text)) return std::nullopt;
    return text;
  }
  editor_->prompt = prompt;
  editor_->interrupted = false;
  int size = 0;
  const char* line = el_gets(editor_->line, &size);
  interrupted_ = editor_->interrupted;
  if (line == nullptr || size <= 0) {
    if (interrupted_) el_reset(editor_->line);
    std::fputs("\n", stdout);
    std::fflush(stdout);
    return std::nullopt;
  }
  text.assign(line, static_cast<std::size_t>(size));
  if (text.ends_with('\n')) text.pop_back();
  if (!text.empty()) {
    HistEvent event;
    ::history(editor_->history, &event, H_ENTER, text.c_str());
  }
  return text;
}

}  // namespace tlaloc::command
