#!/usr/bin/env python3
"""Converses with SmolLM2-135M-Instruct by `tlaloc chat` on a terminal.

usage: check_chat_terminal.py COMMAND MODEL

Ends with 77, and says why, where the system gives no terminal on which Ctrl-C is a signal.
"""

import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time

from check_chat import command, expect, failures

SKIPPED = 77


def why_no_terminal():
    """Nothing where a new terminal sends Ctrl-C as a signal. Boxes in which tests run may have no terminals."""
    try:
        pid, terminal = pty.fork()
    except OSError as error:
        return f"a pseudo-terminal can't be opened: {error}"
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        os.write(1, b"ready")
        time.sleep(5)
        os._exit(0)
    try:
        os.read(terminal, 5)
        os.write(terminal, b"\x03")
        _, status = os.waitpid(pid, 0)
    finally:
        os.close(terminal)
    return None if os.waitstatus_to_exitcode(status) == -signal.SIGINT else "Ctrl-C on a pseudo-terminal is no signal"


class Terminal:
    def __init__(self, *arguments):
        self.seen = ""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
            os.execv(sys.argv[1], command(*arguments))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if isinstance(error, (TimeoutError, EOFError)):
            failures.append(error)
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.terminal)
        return isinstance(error, (TimeoutError, EOFError))

    def read(self, seconds):
        """False where nothing comes."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.terminal, 4096)
        except OSError:  # it ended
            data = b""
        if not data:
            raise EOFError(f"it ended after {self.seen!r}")
        self.seen += data.decode(errors="replace")
        return True

    def edits_a_line(self):
        return not termios.tcgetattr(self.terminal)[3] & termios.ICANON

    def wait(self, text, seconds=120):
        """What comes up to the text."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            if not self.read(max(0, end - time.monotonic())):
                raise TimeoutError(f"no {text!r} in {self.seen!r}")
        before, _, self.seen = self.seen.partition(text)
        return before

    def prompt(self):
        """What is typed from here on is for the line: Ctrl-C is no signal, and the editor rubs out characters."""
        self.wait("> ")
        self.until(self.edits_a_line)

    def interrupt(self):
        """Ends an answer, once there is one to end: before the model runs a signal does nothing."""
        self.until(lambda: not self.edits_a_line())
        self.until(self.edits_a_line, lambda: self.send("\x03"), 0.1)
        # One Ctrl-C too many gives up a line that is empty; after this all of them are through.
        self.send("/set\r")

    def until(self, condition, meanwhile=lambda: None, every=0.01, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"it does not come: {self.seen!r}")
            meanwhile()
            self.read(every)

    def send(self, text):
        os.write(self.terminal, text.encode())

    def end(self, seconds=60):
        """The status that it ends with by Ctrl-D, which is lost where it comes before the prompt does."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                os.write(self.terminal, b"\x04")
                self.read(0.2)
            except (OSError, EOFError):  # it ended
                pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                return os.waitstatus_to_exitcode(status)
        raise TimeoutError(f"Ctrl-D does not end it: {self.seen!r}")


def check_terminal(folder):
    saved = folder / "terminal.json"
    with Terminal("--temperature", 0) as terminal:
        terminal.wait("context of 8192 tokens; /help says")
        terminal.prompt()
        terminal.send("Tell me a very long story about a river.\r")
        terminal.wait("river")  # its echo
        terminal.wait("the")  # of the answer
        terminal.interrupt()
        terminal.wait("ended by cancelled]")
        terminal.wait("\nseed ")
        # It goes on; Ctrl-C gives up a line, not the program.
        terminal.prompt()
        terminal.send("/quit now\x03/set temperature 0.25\r/set\r")
        expect("temperature 0.25\r\n" in terminal.wait("\nseed "), "/set")
        # The line before, and what is wrong, which does not end it.
        terminal.send("\x1b[A\r")
        expect("temperature 0.25\r\n" in terminal.wait("\nseed "), "the line before")
        terminal.send("/nothing\r")
        terminal.wait("there is no command '/nothing'")
        terminal.prompt()
        terminal.send(f"/system caf\u00e8\x7f\u00e9\r/save {saved}\r/set\r")
        terminal.wait("\nseed ")
        # A Ctrl-D that comes before the prompt does, as what terminals make of it: the next key is none to be quoted.
        terminal.prompt()
        terminal.send("\0")
        expect(terminal.end() == 0, "Ctrl-D")
        messages = json.loads(saved.read_text(encoding="utf-8"))
        expect(messages[0] == {"role": "system", "content": "caf\u00e9"}, messages)
        expect(messages[2]["role"] == "assistant" and messages[2]["content"], messages)


def check_interrupted(folder):
    """Another answer that does not come leaves the conversation as it was."""
    asked, saved = folder / "asked.json", folder / "interrupted.json"
    messages = [{"role": "user", "content": "word " * 1500}, {"role": "assistant", "content": "word"}]
    asked.write_text(json.dumps(messages), encoding="utf-8")
    with Terminal("--messages", asked) as terminal:
        terminal.prompt()
        terminal.send("/retry\r")
        terminal.interrupt()
        terminal.wait("\nseed ")
        terminal.prompt()
        terminal.send(f"/save {saved}\r/set\r")
        terminal.wait("\nseed ")
        expect(terminal.end() == 0, "Ctrl-D")
        expect(json.loads(saved.read_text(encoding="utf-8")) == messages, "interrupted")
    with Terminal("--messages", asked, "--context", 100) as terminal:
        terminal.prompt()
        terminal.send("/retry\r")
        terminal.wait("TL-LLM-004")
        terminal.send(f"/save {saved}\r/set\r")
        terminal.wait("\nseed ")
        expect(terminal.end() == 0, "Ctrl-D")
        expect(json.loads(saved.read_text(encoding="utf-8")) == messages, "refused")


def check_control_characters():
    """They don't reach a terminal, wherever the messages come from."""
    done = subprocess.run([sys.argv[1], "tokenize", "--model", sys.argv[2]], input="\x1b", capture_output=True, encoding="utf-8")
    ours, theirs = pty.openpty()
    with subprocess.Popen(command("--max-tokens", 4, "--logit-bias", f"{done.stdout.strip()}=100"), stdin=subprocess.PIPE,
                          stdout=theirs, encoding="utf-8") as chat:
        chat.communicate("Hello\n", timeout=300)
    os.close(theirs)
    shown = os.read(ours, 4096)
    os.close(ours)
    expect(shown.strip() and b"\x1b" not in shown, shown)


def main():
    reason = why_no_terminal()
    if reason is not None:
        print(reason)
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        check_terminal(pathlib.Path(folder))
        check_interrupted(pathlib.Path(folder))
    check_control_characters()
    print("\n".join(map(str, failures)) or "all as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
