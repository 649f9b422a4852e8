"""
The engine of Tutti: lists, schedules, models, drawings and verification.
"""

from collections.abc import Callable, Sequence


version: str = '0.1.0'

class Algorithm:
    """One line of the list of algorithms."""

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
    """A name that a paper uses."""

    @property
    def name(self) -> str: ...

    @property
    def specification(self) -> str: ...

class Setting:
    """A setting by environment."""

    @property
    def name(self) -> str: ...

    @property
    def default(self) -> str: ...

    @property
    def accepted(self) -> str: ...

    @property
    def meaning(self) -> str: ...

class Machine:
    """The numbers by which time is modelled, in seconds."""

    def __init__(self) -> None: ...

    @property
    def latency(self) -> float:
        """Of a message without bytes, end to end."""

    @latency.setter
    def latency(self, arg: float, /) -> None: ...

    @property
    def per_byte(self) -> float:
        """For each further byte."""

    @per_byte.setter
    def per_byte(self, arg: float, /) -> None: ...

    @property
    def overhead(self) -> float:
        """Of a processor with one message."""

    @overhead.setter
    def overhead(self, arg: float, /) -> None: ...

    @property
    def gap(self) -> float:
        """Least time between two messages at one rank."""

    @gap.setter
    def gap(self, arg: float, /) -> None: ...

    @property
    def polling(self) -> float:
        """Until a thread that polls sees a notification."""

    @polling.setter
    def polling(self, arg: float, /) -> None: ...
    @property
    def serving(self) -> float:
        """That a put waits for its target's thread."""
    @serving.setter
    def serving(self, arg: float, /) -> None: ...

    def __repr__(self) -> str: ...

def algorithms() -> list[Algorithm]: ...

def aliases() -> list[Alias]: ...

def settings() -> list[Setting]: ...

def is_setting(name: str) -> bool:
    """A variable that the library, the commands or the modulefile know."""

def distributions() -> list[str]: ...

def collectives() -> list[str]: ...

def is_irregular(collective: str) -> bool:
    """Blocks of this collective may differ in size."""

def block_kind(collective: str) -> str:
    """
    What its blocks are: those of ranks, of pairs of ranks, parts of one vector, or none.
    """

def has_two_ports(collective: str) -> bool:
    """Models let a rank send one message while it receives another."""

def has_root(collective: str) -> bool:
    """One rank of this collective has a part of its own."""

def setting(collective: str, text: str) -> str:
    """
    The shortest text that means the same setting; ValueError if it means nothing.
    """

def distribute(name: str, ranks: int, block: int, seed: int = 1, rho: int = 5) -> list[int]:
    """Block sizes of all ranks for the average block."""

def bytes_from(text: str) -> int:
    """A number of bytes such as 1536, 64K or 8M."""

def machine_from_text(text: str) -> Machine:
    """A machine from "name value" lines."""

def read_text_file(path: str, most: int = 268435456) -> str:
    """
    The text of a regular file of at most so many bytes; ValueError for all else, at once.
    """

def why_no_output(path: str) -> str:
    """
    Why a file of this name could not be written; empty where nothing stands against it.
    """

def machines_from_text(text: str) -> tuple[Machine, NodeMachine]:
    """Both machines of a file; ValueError where no line is of either."""

class DelayPredictor:
    """How late ranks usually are, by the library's own rule."""

    def __init__(self, ranks: int) -> None: ...

    def take(self, arrivals: Sequence[float]) -> None:
        """Takes the arrivals at a call by rank, in seconds."""

    @property
    def delays(self) -> list[float]:
        """Seconds behind the first by rank; NaN where nothing is known."""

class CandidateOrder:
    """An order of ranks and its modelled time."""

    @property
    def name(self) -> str:
        """How it was found."""

    @property
    def ranks(self) -> list[int]:
        """The rank at each position."""

    @property
    def seconds(self) -> float: ...

class Reordering:
    """The orders by distance that were looked at."""

    @property
    def natural(self) -> CandidateOrder: ...

    @property
    def best(self) -> CandidateOrder:
        """The natural one where no other is modelled faster."""

    @property
    def all(self) -> list[CandidateOrder]:
        """By modelled time."""

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
        """Of each rank's node; empty: not known."""

    @property
    def bytes(self) -> list[int]:
        """The sizes of messages that were measured, one or two."""

    def matrix(self, which: int = 0) -> list[list[float]]:
        """Seconds from each rank to each, with messages of bytes[which]."""

    def clusters(self) -> list[list[int]]:
        """
        The group of each rank by level, finest first, as the largest messages show them.
        """

    def reordering(self, collective: str, algorithm: str, block: int, root: int = 0, machine: Machine = ...) -> Reordering:
        """
        What orders by distance bring to an algorithm with blocks of so many bytes.
        """

def distances_from_text(text: str) -> Distances:
    """Distances from their file's JSON."""

class Transfer:
    """A message in simulated time."""

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
    """What happened when, in simulated seconds."""

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
        """Last exit less first arrival."""

    @property
    def elapsed(self) -> float:
        """Mean of exit less arrival."""

    @property
    def spread(self) -> float:
        """Last arrival less first arrival."""

    def svg(self, title: str) -> str:
        """Ranks over time as SVG."""

    def json(self) -> str:
        """All of it as JSON."""

class Message:
    """A send and the receive that takes it."""

    @property
    def source(self) -> int: ...

    @property
    def target(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def round(self) -> int: ...

class KnowledgePrice:
    """The traffic by which ranks learn sizes."""

    @property
    def steps(self) -> int:
        """The longest chain of dependent messages."""

    @property
    def messages(self) -> int: ...

    @property
    def words(self) -> int:
        """Of 8 bytes, in all."""

class Candidate:
    """An algorithm that was considered."""

    @property
    def name(self) -> str: ...

    @property
    def seconds(self) -> float: ...

    @property
    def note(self) -> str: ...

class Choice:
    """Which algorithm runs, and why."""

    @property
    def algorithm(self) -> str: ...

    @property
    def reason(self) -> str: ...

    @property
    def candidates(self) -> list[Candidate]: ...

class Call:
    """One call of a collective, seen from outside."""

    def __init__(self, collective: str, sizes: Sequence[int], root: int = 0, algorithm: str = 'ordered_tree', machine: Machine = ..., expected: Sequence[float] = [], distances: Distances | None = None) -> None:
        """
        expected: when ranks are expected, in seconds, for orders by arrival; distances: for orders by distance, and the time of messages in a simulation.
        """

    @property
    def algorithm(self) -> str:
        """The specification, as short as it gets."""

    @property
    def knowledge(self) -> str:
        """What a rank must learn first."""

    def knowledge_price(self) -> KnowledgePrice:
        """The traffic of the protocol that acquires it."""

    @property
    def order(self) -> list[int]:
        """The rank at each position."""

    @property
    def promoted(self) -> list[int]:
        """Subtrees that were moved to the root."""

    def schedule(self, rank: int) -> str:
        """The steps of a rank as text."""

    def messages(self) -> list[Message]:
        """All messages, by round."""

    def tree(self) -> str:
        """The tree of transfers as text."""

    def svg(self, title: str) -> str:
        """The tree of transfers as SVG."""

    def goal(self) -> str:
        """All schedules in LogGOPSim's GOAL language."""

    def json(self) -> str:
        """All schedules as JSON."""

    def simulate(self, arrivals: Sequence[float] = []) -> Timeline:
        """
        Replays the data's messages; arrivals in seconds by rank. A rank has one port, or one for each direction in all but gathers and scatters.
        """

    def lower_bound(self, arrivals: Sequence[float] = [], background: bool = False) -> float:
        """
        No algorithm can be over earlier; seconds from time 0. With background, none whose ranks receive before they arrive.
        """

def choose(collective: str, setting: str, ranks: int, block: int | None = None, machine: Machine = ..., root: int = 0, expected: Sequence[float] = [], error: float = 0.0, background: bool = False, mpi: str = "") -> Choice:
    """What Tutti runs under a setting, from what every rank knows."""

class NodeMachine:
    """What a cluster of many-core nodes can do."""

    def __init__(self) -> None: ...

    @staticmethod
    def from_text(text: str) -> NodeMachine:
        """Of one "name value" a line; missing names keep their defaults."""

    def text(self) -> str:
        """All numbers, one a line, with what they mean."""

class HierarchicalSeconds:
    """Where the time of a call goes."""

    @property
    def copies_in(self) -> float: ...

    @property
    def flags(self) -> float: ...

    @property
    def between(self) -> float: ...

    @property
    def copies_out(self) -> float: ...

    @property
    def total(self) -> float: ...

class HierarchicalEstimate:
    """Modelled seconds, flat and by node memory."""

    @property
    def flat(self) -> dict[str, float]:
        """By shape."""

    @property
    def level(self) -> HierarchicalSeconds:
        """With the best number of leaders."""

    @property
    def one_leader(self) -> HierarchicalSeconds: ...

    @property
    def leaders(self) -> int: ...

    @property
    def bound(self) -> float:
        """No algorithm is over earlier."""

def hierarchical_estimate(collective: str, nodes: int, ranks: int, block: int, machine: NodeMachine = ...) -> HierarchicalEstimate:
    """Closed forms for nodes of equally many ranks; block in bytes."""

class HierarchicalChoice:
    """Whether a call goes through node memory."""

    @property
    def level(self) -> str:
        """As in a setting, or flat."""

    @property
    def reason(self) -> str: ...

    @property
    def candidates(self) -> list[Candidate]: ...

class HierarchicalProblem:
    """A call through node memory, seen from outside."""

    def __init__(self, collective: str, sizes: Sequence[int], nodes: str, root: int = 0, algorithm: str = 'hierarchical(native)', bound: int = 0, commutative: bool = True, machine: NodeMachine = ..., cores: int = 0) -> None:
        """
        nodes: as 1,4,2 or 8x6, with :round_robin or :shuffled; bound: bytes of node memory, 0 for any; cores: of each node, 0 if not known.
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
        """Bytes on each node."""

    def plan(self, rank: int) -> str:
        """The steps of a rank as text."""

    def calls(self) -> list[str]:
        """The collectives between nodes, lane by lane."""

    def fault(self) -> str:
        """What is wrong with the plans; empty if nothing is."""

    def choice(self) -> HierarchicalChoice:
        """Flat or through node memory, by the model."""

    def tried(self) -> list[str]:
        """
        What auto runs: native alone, or what the program's own calls decide between.
        """

    @property
    def left_flat(self) -> str:
        """
        Why auto leaves such calls flat whatever the model says; empty if not so.
        """

def node_ranks(nodes: str) -> list[list[int]]:
    """The ranks of each node of a shape such as 1,4,2 or 8x6:round_robin."""

def sweep_hierarchical(collective: str, max_ranks: int = 5, nodes: str = '') -> SweepResult:
    """
    Verifies level plans on all shapes of nodes up to max_ranks and some larger ones, or on one.
    """

class Rule:
    """What to run for some calls, and the measurement behind it."""

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
    def commutative(self) -> bool | None: ...

    @property
    def mpi(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def use(self) -> str: ...

    @property
    def native_us(self) -> float | None: ...

    @property
    def choice_us(self) -> float | None: ...

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

    def __init__(self) -> None: ...

    @property
    def all(self) -> list[Rule]: ...

    @property
    def remarks(self) -> list[str]:
        """About fields that were ignored."""

    def extend(self, more: Rules) -> None:
        """Appends rules, which are tried after these."""

    def find(self, collective: str, ranks: int, bytes: int, nodes: int = 1, ranks_per_node: int = 1, commutative: bool = True, mpi: str = '') -> Rule | None:
        """
        The rule that decides a call; None if there is none. Nodes and ranks_per_node 0 and an empty mpi (the library's version text) mean any.
        """

    def text(self) -> str:
        """The rules as a file, one a line."""

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

rules_schema: str = 'tutti-rules-1'

class SweepResult:
    """What a sweep has found."""

    @property
    def cases(self) -> int: ...

    @property
    def failures(self) -> list[str]: ...

    def add(self, other: SweepResult) -> None:
        """Adds what another part has found."""

def sweep(max_ranks: int = 33, sampled: int = 1024, collective: str = '', algorithm: str = '', part: int = 0, parts: int = 1, progress: Callable[[float, str], None] | None = None) -> SweepResult:
    """
    Verifies all that the options name; progress(done, at) is called with 0 to 1.
    """
