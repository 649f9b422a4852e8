"""
Tutti's engine: algorithms, schedules, models, drawings and verification.
"""

from collections.abc import Callable, Sequence


version: str = '0.1.0'

class Algorithm:
    """An algorithm of the list."""

    @property
    def collective(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def order(self) -> str: ...

    @property
    def knowledge(self) -> str: ...

    @property
    def parameters(self) -> str: ...

    @property
    def summary(self) -> str: ...

class Alias:
    """A paper's name for a specification."""

    @property
    def name(self) -> str: ...

    @property
    def specification(self) -> str: ...

class Setting:
    """A setting, which an environment variable holds."""

    @property
    def name(self) -> str: ...

    @property
    def default(self) -> str: ...

    @property
    def accepted(self) -> str: ...

    @property
    def meaning(self) -> str: ...

class Machine:
    """The model's parameters of messages and of nodes, in seconds."""

    def __init__(self) -> None: ...

    @property
    def latency(self) -> float:
        """End-to-end time of an empty message."""

    @latency.setter
    def latency(self, arg: float, /) -> None: ...

    @property
    def per_byte(self) -> float:
        """Time per byte."""

    @per_byte.setter
    def per_byte(self, arg: float, /) -> None: ...

    @property
    def overhead(self) -> float:
        """Processor time per message."""

    @overhead.setter
    def overhead(self, arg: float, /) -> None: ...

    @property
    def gap(self) -> float:
        """Minimum time between two messages of one rank."""

    @gap.setter
    def gap(self, arg: float, /) -> None: ...

    @property
    def polling(self) -> float:
        """Time until a polling thread sees a notification."""

    @polling.setter
    def polling(self, arg: float, /) -> None: ...

    @property
    def serving(self) -> float:
        """Time that a put waits for its target's thread."""

    @serving.setter
    def serving(self, arg: float, /) -> None: ...

    def __repr__(self) -> str: ...

def algorithms() -> list[Algorithm]: ...

def aliases() -> list[Alias]: ...

def settings() -> list[Setting]: ...

def former_name_of(name: str) -> str:
    """An accepted alias of a setting; empty if it has none."""

def unknown_setting(name: str) -> str:
    """
    The error message for an unknown variable: it suggests the nearest setting.
    """

def is_setting(name: str) -> bool:
    """Whether the library, the commands or the modulefile know the variable."""

def settings_error(variables: dict[str, str]) -> str:
    """What the library refuses in these TUTTI variables, as it would say it; empty if nothing."""

def is_on(text: str) -> bool:
    """The value of a setting that is on or off; ValueError says what is accepted."""

def did_you_mean(given: str, known: Sequence[str]) -> str:
    """The end of an error: the nearest known name; empty without one."""

def valid_names(given: str, known: Sequence[str], kind: str) -> str:
    """The end of an error: the nearest and all known names."""

def distributions() -> list[str]: ...

def collectives() -> list[str]: ...

def is_irregular(collective: str) -> bool:
    """Whether blocks of the collective may differ in size."""

def block_kind(collective: str) -> str:
    """
    The kind of its blocks: of ranks, of pairs of ranks, parts of a vector, or none.
    """

def reduces(collective: str) -> bool:
    """Whether the collective combines contributions of several ranks."""

def has_two_ports(collective: str) -> bool:
    """Whether models let a rank send one message while it receives another."""

def has_root(collective: str) -> bool:
    """Whether the collective has a root."""

def setting(collective: str, text: str) -> str:
    """
    The shortest text of the same setting; ValueError if the text is invalid.
    """

def distribute(name: str, ranks: int, block: int, seed: int = 1, rho: int = 5) -> list[int]:
    """The block sizes of all ranks, for a distribution and its mean block."""

def bytes_from(text: str) -> int:
    """The number of bytes of a text such as 1536, 64K or 8M."""

def machine_from_text(text: str) -> Machine:
    """
    Reads a machine from "name value" lines; missing names keep their defaults. ValueError if no line names a parameter.
    """

def read_text_file(path: str, max_bytes: int = 268435456) -> str:
    """
    The text of a regular file of at most max_bytes; otherwise ValueError, without waiting.
    """

def keep_former(path: str) -> str:
    """Renames an existing file to path.1 or so; returns its new name, or empty."""

def expanded(path: str) -> str:
    """The path with the number of the batch job for %j and of this process for %p."""

def why_no_output(path: str) -> str:
    """Why a file of this name cannot be written; empty if it can."""

class DelayPredictor:
    """Predicts the delays of ranks from earlier calls, like the library."""

    def __init__(self, ranks: int) -> None: ...

    def take(self, arrivals: Sequence[float]) -> None:
        """Adds the arrivals of all ranks at a call, in seconds."""

    @property
    def delays(self) -> list[float]:
        """
        The predicted delay of each rank behind the first, in seconds; NaN if unknown.
        """

class CandidateOrder:
    """An order of ranks and its modelled time."""

    @property
    def name(self) -> str:
        """The method that found the order."""

    @property
    def ranks(self) -> list[int]:
        """The rank at each position."""

    @property
    def seconds(self) -> float: ...

class Reordering:
    """The evaluated rank orders of an algorithm."""

    @property
    def natural(self) -> CandidateOrder: ...

    @property
    def best(self) -> CandidateOrder:
        """The fastest order; the natural one if no other is modelled faster."""

    @property
    def all(self) -> list[CandidateOrder]:
        """All orders, by modelled time."""

    @property
    def gain(self) -> float:
        """The natural order's time over the best one's."""

    @property
    def helps(self) -> bool: ...

class Distances:
    """The measured distances between ranks."""

    @property
    def ranks(self) -> int: ...

    @property
    def method(self) -> str: ...

    @property
    def names(self) -> list[str]:
        """The name of each rank's node; empty if unknown."""

    @property
    def bytes(self) -> list[int]:
        """The measured message sizes, one or two."""

    def matrix(self, which: int = 0) -> list[list[float]]:
        """Seconds from each rank to each other, for messages of bytes[which]."""

    def clusters(self) -> list[list[int]]:
        """
        Clusters of near ranks, by the largest messages: by level, finest first, the group of each rank.
        """

    def reordering(self, collective: str, algorithm: str, block: int, root: int = 0, machine: Machine = ...) -> Reordering:
        """
        Evaluates orders by distance for an algorithm; block: bytes of each rank's block.
        """

    def explored(self, collective: str, block: int, machine: Machine = ...) -> list[str]:
        """
        The orders by distance that auto explores behind the other candidates: those that the model predicts to gain enough, the fastest first. block: the mean one, in bytes.
        """

def distances_from_text(text: str) -> Distances:
    """Reads distances from JSON; ValueError if it is invalid."""

class Transfer:
    """A message in simulated time, in seconds."""

    @property
    def source(self) -> int: ...

    @property
    def target(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def start(self) -> float: ...

    @property
    def end(self) -> float: ...

class Timeline:
    """The timeline of a simulated call, in seconds."""

    @property
    def arrivals(self) -> list[float]: ...

    @property
    def exits(self) -> list[float]: ...

    @property
    def busy(self) -> list[float]: ...

    @property
    def transfers(self) -> list[Transfer]: ...

    @property
    def run_time(self) -> float:
        """Last exit minus first arrival."""

    @property
    def elapsed(self) -> float:
        """Mean over ranks of exit minus arrival."""

    @property
    def spread(self) -> float:
        """Last arrival minus first arrival."""

class Step:
    """One step of a rank's schedule."""

    @property
    def kind(self) -> str: ...

    @property
    def peer(self) -> int: ...

    @property
    def blocks(self) -> tuple[int, int]:
        """The first block, and the one after the last."""

    @property
    def holes(self) -> list[tuple[int, int]]:
        """Ranges of blocks within it that the step leaves out."""

    @property
    def bytes(self) -> int: ...

    @property
    def offset(self) -> int:
        """Of the bytes in the packed blocks."""

    @property
    def first(self) -> int:
        """Of the steps that a wait waits for."""

    @property
    def last(self) -> int:
        """The step after the last one that a wait waits for."""

    @property
    def after(self) -> int:
        """An earlier step that must complete first; -1: none."""

    @property
    def slots(self) -> int:
        """The limit of steps in flight; 0: none."""

    @property
    def background(self) -> bool:
        """True if the background thread runs the step."""

class Message:
    """A send and its matching receive."""

    @property
    def source(self) -> int: ...

    @property
    def target(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def round(self) -> int: ...

class KnowledgePrice:
    """The messages of the protocol that acquires knowledge."""

    @property
    def steps(self) -> int:
        """The longest chain of dependent messages."""

    @property
    def messages(self) -> int: ...

    @property
    def words(self) -> int:
        """The total number of words of 8 bytes."""

class Candidate:
    """An algorithm that selection has compared."""

    @property
    def name(self) -> str: ...

    @property
    def seconds(self) -> float: ...

    @property
    def note(self) -> str: ...

class Choice:
    """The selected algorithm, and why."""

    @property
    def algorithm(self) -> str: ...

    @property
    def specification(self) -> str:
        """Of the flat algorithm, or of what runs between nodes."""

    @property
    def reason(self) -> str: ...

    @property
    def candidates(self) -> list[Candidate]: ...

class Call:
    """One call of a collective, with the schedules of all ranks."""

    def __init__(self, collective: str, sizes: Sequence[int], root: int = 0, algorithm: str = 'ordered_tree', machine: Machine = ..., expected: Sequence[float] = [], distances: Distances | None = None) -> None:
        """
        expected: predicted arrivals in seconds, for orders by arrival. distances: for orders by distance, and for the times of simulated messages.
        """

    @property
    def collective(self) -> str: ...

    @property
    def root(self) -> int: ...

    @property
    def ranks(self) -> int: ...

    @property
    def inward(self) -> bool:
        """True if all data flows to the root."""

    @property
    def algorithm(self) -> str:
        """The shortest text of the specification."""

    @property
    def knowledge(self) -> str:
        """The knowledge that ranks need beyond their arguments."""

    def knowledge_price(self) -> KnowledgePrice:
        """The messages of the protocol that acquires it."""

    @property
    def order(self) -> list[int]:
        """The rank at each position."""

    @property
    def promoted(self) -> list[int]:
        """The roots of subtrees that promotion has made children of the root."""

    def schedule(self, rank: int) -> str:
        """The steps of a rank as text."""

    def steps(self, rank: int) -> list[Step]:
        """The steps of a rank."""

    def message_steps(self) -> list[list[tuple[Step, list[int]]]]:
        """
        By rank, its steps and for each the earlier steps whose data it reads. One-sided steps become messages.
        """

    def messages(self) -> list[Message]:
        """All messages, by round."""

    def simulate(self, arrivals: Sequence[float] = []) -> Timeline:
        """
        Replays the data's messages. arrivals: seconds by rank. In gathers and scatters a rank has one port, in other collectives one for each direction.
        """

    def price(self, model: str = 'loggp', arrivals: Sequence[float] = []) -> float:
        """
        Seconds until the last rank has completed its schedule under a model: hockney, overlapped, logp or loggp.
        """

    def lower_bound(self, arrivals: Sequence[float] = [], background: bool = False) -> float:
        """
        The earliest end of any algorithm, in seconds from time 0. With background, ranks may receive before they arrive.
        """

def choose(collective: str, setting: str, ranks: int, block: int | None = None, machine: Machine = ...) -> Choice:
    """Tutti's selection under a setting, from facts that all ranks know."""

class HierarchicalSeconds:
    """The parts of the time of a hierarchical call."""

    @property
    def copies_in(self) -> float: ...

    @property
    def signals(self) -> float: ...

    @property
    def between(self) -> float: ...

    @property
    def copies_out(self) -> float: ...

    @property
    def total(self) -> float: ...

class HierarchicalEstimate:
    """Modelled seconds of a call, flat and hierarchical."""

    @property
    def flat(self) -> dict[str, float]:
        """The flat algorithms, by shape."""

    @property
    def level(self) -> HierarchicalSeconds:
        """The hierarchical algorithm with the best number of leaders."""

    @property
    def one_leader(self) -> HierarchicalSeconds: ...

def hierarchical_estimate(collective: str, nodes: int, ranks: int, block: int, machine: Machine = ...) -> HierarchicalEstimate:
    """
    Modelled times for `nodes` nodes of `ranks` ranks each; block in bytes.
    """

class HierarchicalProblem:
    """A hierarchical call, with the programs of all ranks."""

    def __init__(self, collective: str, sizes: Sequence[int], nodes: str, root: int = 0, algorithm: str = 'hierarchical(native)', bound: int = 0, commutative: bool = True, machine: Machine = ...) -> None:
        """
        nodes: such as 1,4,2 or 8x6, optionally with :round_robin or :shuffled. bound: limit of node memory in bytes, 0 for none.
        """

    @property
    def algorithm(self) -> str: ...

    @property
    def leaders(self) -> int: ...

    @property
    def chunks(self) -> int: ...

    @property
    def ranks(self) -> list[list[int]]:
        """The ranks of each node."""

    @property
    def memory(self) -> list[int]:
        """The bytes of node memory on each node."""

    def program(self, rank: int) -> str:
        """The operations of a rank as text."""

    def calls(self) -> list[str]:
        """The collectives between nodes, lane by lane."""

    def fault(self) -> str:
        """The first fault of the programs; empty if they are correct."""

    def proposals(self) -> list[Candidate]:
        """Modelled times, flat and through node memory; fastest first."""

def explored(collective: str, ranks: int, block: int, ranks_per_node: int = 1, machine: Machine = ..., arrivals: Sequence[float] = [], background: bool = False) -> list[str]:
    """
    The candidates that auto explores on the program's own calls, in this sequence, native first. block: the mean one, in bytes. Ranks of gathers and scatters exchange arrivals if some are expected (by rank, in seconds) or if every rank has a background thread.
    """

def useful(collective: str, ranks: int, ranks_per_node: int = 1, arrivals: bool = False, background: bool = False, distances: bool = False) -> list[str]:
    """
    The algorithms of the list with their useful parameters, also those that need arrivals, background threads or distances if these are there; then node memory.
    """

def node_ranks(nodes: str) -> list[list[int]]:
    """The ranks of each node of a shape such as 1,4,2 or 8x6:round_robin."""

def sweep_hierarchical(collective: str, max_ranks: int = 5, nodes: str = '') -> SweepResult:
    """
    Verifies hierarchical programs on the shape `nodes`, or on all shapes of up to max_ranks ranks and some larger ones.
    """

class RuleTimes:
    """Medians and intervals, in microseconds, for one message size."""

    @property
    def bytes(self) -> int: ...

    @property
    def native_us(self) -> float | None: ...

    @property
    def choice_us(self) -> float | None: ...

    @property
    def native_interval_us(self) -> tuple[float, float] | None: ...

    @property
    def choice_interval_us(self) -> tuple[float, float] | None: ...

class Rule:
    """What to run for some calls, and the measurement behind it."""

    @property
    def native_us(self) -> float | None: ...

    @property
    def choice_us(self) -> float | None: ...

    @property
    def native_interval_us(self) -> tuple[float, float] | None: ...

    @property
    def choice_interval_us(self) -> tuple[float, float] | None: ...

    @property
    def collective(self) -> str: ...

    @property
    def p(self) -> str: ...

    @property
    def nodes(self) -> str: ...

    @property
    def ranks_per_node(self) -> str: ...

    @property
    def bytes(self) -> str: ...

    @property
    def irregularity(self) -> str: ...

    @property
    def commutative(self) -> bool | None: ...

    @property
    def mpi(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def network(self) -> str: ...

    @property
    def use(self) -> str: ...

    @property
    def sizes(self) -> list[RuleTimes]: ...

    @property
    def calls(self) -> int | None: ...

    @property
    def date(self) -> str: ...

    @property
    def command(self) -> str: ...

    @property
    def source(self) -> str: ...

    def choice(self, background: bool = False) -> str:
        """What Tutti runs by it."""

    def reason(self, background: bool = False) -> str:
        """Why, as reports say it."""

class Rules:
    """Rules in the sequence in which they are tried."""

    def __init__(self, all: Sequence[Rule] = []) -> None: ...

    @property
    def all(self) -> list[Rule]: ...

    @property
    def remarks(self) -> list[str]:
        """About fields that were ignored."""

    def extend(self, more: Rules) -> None:
        """Appends rules, which are tried after these."""

    def find(self, collective: str, ranks: int, bytes: int, nodes: int = 1, ranks_per_node: int = 1, commutative: bool = True, mpi: str = '', irregularity: int = 1) -> Rule | None:
        """
        The rule that decides a call on any network; None if there is none. Nodes and ranks_per_node 0 and an empty mpi (the library's version text) mean any.
        """

    def text(self) -> str:
        """The rules as a file, one a line."""

def irregularity_of(blocks: Sequence[int]) -> int:
    """
    As rules count it: the largest block over the mean one, rounded up; 1 up to 5 % more.
    """

def rules_from_text(text: str, source: str) -> Rules:
    """
    Reads a rules file; ValueError names line, field, value and what is accepted.
    """

def range_text(text: str) -> str:
    """
    The shortest text of a range such as 1024..65536; ValueError says what is accepted.
    """

def needs_arrivals(collective: str, setting: str) -> bool:
    """What it runs depends on when ranks are expected to arrive."""

def mpi_version(library_version: str) -> list[str]:
    """Name and version of an MPI, as rules write them."""

def rule_files(setting: str, library_folder: str) -> list[str]:
    """
    The rules files that a program of this user reads, in the sequence of their merging.
    """

def cache_file(name: str) -> str:
    """A file in this user's cache folder; empty if there is no such folder."""

rules_schema: str = 'tutti-rules-1'

max_rules_bytes: int = 67108864

kept_rules_name: str = 'learned-0.1.0.json'

class SweepResult:
    """
    The numbers of verified cases and of their programs, and the smallest cases that failed.
    """

    @property
    def cases(self) -> int: ...

    @property
    def programs(self) -> int: ...

    @property
    def failed(self) -> int: ...

    @property
    def failures(self) -> list[str]:
        """The smallest failed cases, by ranks, then by bytes; at most 20."""

    def add(self, other: SweepResult) -> None:
        """Adds the result of another part."""

def sweep(max_ranks: int = 33, sampled: int = 1024, collective: str = '', algorithm: str = '', part: int = 0, parts: int = 1, progress: Callable[[float, str], None] | None = None) -> SweepResult:
    """
    Verifies one part of the cases; progress(done, at) receives a share from 0 to 1 and the current case.
    """
