"""Measures the rate of a link: one TCP connection from node to node.

python transfer.py receive              prints its port, then "bytes seconds"
python transfer.py send HOST PORT SECONDS
"""

from __future__ import annotations

import os
import select
import shlex
import socket
import subprocess
import sys
import time

PIECE = 1 << 16
HEAD = 0.2
"""The share of the time that is not counted: the start of the connection and the bucket's burst."""


def receive() -> None:
    """Counts the bytes that arrive after the share `HEAD` of the announced time."""
    with socket.create_server(("0.0.0.0", 0)) as server:
        server.settimeout(30)
        print(server.getsockname()[1], flush=True)
        peer, _ = server.accept()
        with peer:
            peer.settimeout(30)
            announced = float(peer.recv(16, socket.MSG_WAITALL))
            begin = time.monotonic()
            counted, since, last = 0, 0.0, begin
            while piece := peer.recv(PIECE):
                last = time.monotonic()
                if since:
                    counted += len(piece)
                elif last - begin > HEAD * announced:
                    since = last
    print(counted, last - since, flush=True)


def send(host: str, port: int, seconds: float) -> None:
    """Sends 16 bytes with the duration, then data for `seconds`."""
    piece = os.urandom(PIECE)
    with socket.create_connection((host, port), timeout=30) as peer:
        peer.sendall(f"{seconds:16.6f}".encode())
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            peer.sendall(piece)


def measure(
    shell: str, names: tuple[str, str], address: str, seconds: float, limit: float
) -> float:
    """Bytes of payload per second from one node to another.

    Args:
        shell: the node shell.
        names: host names of the sender and of the receiver.
        address: the receiver's address.
        seconds: duration of the transfer.
        limit: seconds until it must have ended.

    Raises:
        TimeoutError: there was no connection, or no end within the limit.
        OSError: another failure, with the reason.
    """
    # The node shell joins its words with blanks, as ssh does.
    me = shlex.join([sys.executable, "-I", os.path.abspath(__file__)])
    none, pipe = subprocess.DEVNULL, subprocess.PIPE
    what = f"no transfer from {names[0]} to {names[1]}"
    receiver = subprocess.Popen(
        [shell, names[1], me, "receive"], stdout=pipe, stderr=pipe, text=True, stdin=none
    )
    end = time.monotonic() + limit
    try:
        assert receiver.stdout is not None
        if not select.select([receiver.stdout], [], [], limit)[0]:
            raise subprocess.TimeoutExpired(shell, limit)
        port = receiver.stdout.readline().strip()
        if port:
            words = ["send", address, port, str(seconds)]
            sender = [shell, names[0], me, *words]
            sent = subprocess.run(
                sender, check=False, timeout=max(0, end - time.monotonic()), capture_output=True,
                text=True, stdin=none,
            )  # fmt: skip
            if sent.returncode:
                raise _failure(what, sent.stderr)
        said, errors = receiver.communicate(timeout=max(0, end - time.monotonic()))
        if receiver.returncode:
            raise _failure(what, errors)
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"{what} within {limit:g} s (--timeout)") from None
    finally:
        receiver.kill()
        receiver.wait()
    try:
        counted, duration = said.split()
    except ValueError:
        raise OSError(f"{what}: the receiver ended without a result") from None
    if float(duration) <= 0:
        raise OSError(f"{what} of more than {counted} bytes; it needs more time (--timeout)")
    return int(counted) / float(duration)


def _failure(what: str, errors: str) -> OSError:
    """The error of a program that has ended with these messages."""
    last = (errors.strip().splitlines() or ["no message"])[-1]
    kind = TimeoutError if last.startswith("TimeoutError") else OSError
    return kind(f"{what}: {last}")


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive()
    else:
        send(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
