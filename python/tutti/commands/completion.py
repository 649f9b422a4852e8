"""`tutti completion`: the script that completes commands, options and values in a shell."""

from __future__ import annotations

from typing import Annotated

import typer
from typer._completion_shared import get_completion_script

from tutti import _engine
from tutti.console import Refusal

SHELLS = ("bash", "zsh", "fish")


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print the script that completes commands, options and values of `tutti` in a shell.

    ```
    source <(tutti completion bash)
    tutti completion zsh > ~/.zfunc/_tutti
    tutti completion fish > ~/.config/fish/completions/tutti.fish
    ```
    """
    if shell not in SHELLS:
        raise Refusal(f"no completion for '{shell}'" + _engine.valid_names(shell, SHELLS, "shells"))
    print(get_completion_script(prog_name="tutti", complete_var="_TUTTI_COMPLETE", shell=shell))
