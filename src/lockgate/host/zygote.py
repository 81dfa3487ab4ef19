"""The fork server: `python -P -u -m lockgate.host.zygote FD` has done a worker's imports, and forks when it is asked.

Starting Python costs more than a run's first steps. This process has no database, no loop and no thread, and runs
no user code, so that each worker begins as one that was started by exec: in a session of its own, with the
descriptors that came with the order and no others; its environment comes with its launch. What an interpreter
decides once, the workers of one server share: the hash seed, and what the PYTHON* variables say, which is what
they said when the host started the server.

It speaks over a socket that keeps messages apart. `fork` brings a worker's socket, stdout and stderr, and is
answered by the worker's pid, or by an error's number below zero. `reap PID` is answered by how that worker, which
must have ended, did so: an exit code, or a signal's number below zero. Until it is reaped nobody else gets its pid,
so that its group can be killed by that number. The socket's end is the host's, and the server's.
"""

import contextlib
import gc
import io
import os
import socket
import sys

FORK = b"fork"
REAP = b"reap %d"
TITLE = b"lockgate-worker"
"""What process lists call a worker; the kernel keeps 15 bytes."""

_ORDER_BYTES = 64
_DESCRIPTORS = 3


def main() -> None:
    # Not with the module: the host reads the orders above, and needs nothing of a worker.
    from lockgate.engine.sources import remember
    from lockgate.host import worker
    from lockgate.host.practice import practise

    practise()
    remember()
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    gc.collect()
    # What is here now stays for good; a collection that went through it would copy pages that workers share.
    gc.freeze()
    connected = _serve(control)
    if connected is not None:
        sys.argv[:] = [worker.__file__, str(connected.fileno())]
        sys.modules["__main__"] = worker
        worker.execute(connected)


def _serve(control: socket.socket) -> socket.socket | None:
    """Answers until the host is gone, None; in each worker it returns as well, with the worker's socket."""
    while True:
        order, given, _, _ = socket.recv_fds(control, _ORDER_BYTES, _DESCRIPTORS)
        if not order:
            return None
        if order == FORK:
            answer = _fork(given)
            if answer == 0:
                control.detach()
                return _become_worker(*given)
        else:
            _, status = os.waitpid(int(order.split()[1]), 0)
            answer = os.waitstatus_to_exitcode(status)
        control.send(b"%d" % answer)


def _fork(given: list[int]) -> int:
    """The worker's pid, once it has its own session; 0 in the worker; an error's number below zero."""
    ready, becoming = os.pipe()
    try:
        pid = os.fork()
    except OSError as error:
        pid = -(error.errno or 1)
    if pid:
        os.close(becoming)
        for descriptor in given:
            os.close(descriptor)
        # It closes every descriptor that is not its own, this one last of all, or dies: then nobody holds it either.
        os.read(ready, 1)
        os.close(ready)
    return pid


def _become_worker(connected: int, stdout: int, stderr: int) -> socket.socket:
    os.setsid()
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream = _reopened(descriptor, getattr(sys, name))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    with contextlib.suppress(OSError), open("/proc/self/comm", "wb", buffering=0) as title:
        title.write(TITLE)
    os.closerange(3, connected)
    os.closerange(connected + 1, os.sysconf("SC_OPEN_MAX"))
    return socket.socket(fileno=connected)


def _reopened(descriptor: int, before: io.TextIOWrapper) -> io.TextIOWrapper:
    """The stream as `-u` makes it: the old one remembers what the server's own descriptor could do."""
    raw = io.FileIO(descriptor, "wb", closefd=False)
    return io.TextIOWrapper(
        raw,
        encoding=before.encoding,
        errors=before.errors,
        newline="\n",
        line_buffering=before.line_buffering,
        write_through=True,
    )


if __name__ == "__main__":
    main()
