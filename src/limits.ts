/** Every bound of the service: its unit in the name, its reason or its section of docs/protocol.md beside it. */

const KIB = 1024;
const MIB = 1024 * KIB;

// Requests
export const RUN_BODY_BYTES = 12 * MIB;
export const CANCEL_BODY_BYTES = 64 * KIB;
/** All bodies that are on their way at once; they could fill the memory before the first is refused for its time. */
export const BODIES_BYTES = 256 * MIB;
/** A body that drips in more slowly than this is refused. */
export const BODY_MS = 30_000;
/** JSON deeper than this is an attack on a recursive reader. */
export const JSON_DEPTH = 200;
/** Values in a body, lists and objects included: parsing, checking and digesting takes time for each, and nobody else is served. */
export const JSON_VALUES = 200_000;
/** Entries of a request's lists; validating takes time for each. */
export const MESSAGES = 10_000;
export const CONTEXT_ITEMS = 10_000;
export const RESUME_ENTRIES = 1_024;
export const LLM_HEADERS = 100;
export const ID_CHARS = 1024;
export const INVOCATION_CHARS = 256;
/** Free texts of iacCode (model, channel, a header's value ...). */
export const TEXT_FIELD_CHARS = 16 * KIB;
export const IMAGE_BYTES = 8 * MIB;
export const ALL_IMAGES_BYTES = 10 * MIB;
/** A picture that decodes to more pixels than this would exhaust memory. */
export const IMAGE_PIXELS = 64_000_000;
/** The kernel refuses binary parts above this. */
export const KERNEL_IMAGE_BYTES = 5 * MIB;
/** Pictures that wait to be scaled down, one after the other. */
export const FITTINGS_WAITING = 32;

// Connections
/** The listener gives up when the process has no file left for a connection; it is opened anew after this. */
export const LISTEN_AGAIN_MS = 100;

// Runs
/** Runs that may be active at once; each holds one connection to the kernel. */
export const ACTIVE_RUNS = 4096;
/** Held for a client that reads slowly, before the kernel's stream is slowed down. */
export const CLIENT_BUFFER_BYTES = 1 * MIB;
/** A client that takes nothing for this long is gone. */
export const CLIENT_STALLED_MS = 120_000;
/** A timer of JavaScript fires at once when it is set for longer. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** The client's own parser gives up at 10 MiB. */
export const EVENT_BYTES = 8 * MIB;
/** A client that comes back at once is faster than the news that it left: a busy thread is looked at again after this. */
export const LEAVING_NOTICED_MS = 100;
/** How long a newcomer waits for a run that was stopped; that writes one file and ends. */
export const LEAVING_OVER_MS = 2_000;
export const REASON_CHARS = 500;
/** Shorter values are too common in ordinary text to be masked. */
export const SECRET_MIN_CHARS = 6;
/** Parallel candidates ask at nearly the same time: quiet for this long, then the interrupt is announced. */
export const GATHER_QUIET_MS = 150;
export const GATHER_MAX_MS = 1_000;
/** Pipeline event ids remembered within a run, to drop repeats. */
export const SEEN_EVENT_IDS = 4096;
/** Usage records are summed per provider and model; more pairs than this are a fault of the kernel. */
export const USAGE_RECORDS = 256;
/** Messages, calls and steps that are open at once, and speakers of a pipeline; more are a fault of the kernel. */
export const OPEN_SPANS = 16_384;
export const PIPELINE_SPEAKERS = 4096;
/** Tool calls followed within a run. */
export const TOOL_CALLS = 16_384;
/** Of these, the newest that are kept with the thread: a run that resumes has to tell a call that was shown from one that was not. */
export const SHOWN_CALLS = 1024;

// The kernel
/** A frame of the kernel's stream; a 20 MB artifact has to pass. */
export const FRAME_CHARS = 64 * MIB;
/** What the kernel sends without an end of a frame, however its characters are written. */
export const FRAME_BYTES = 256 * MIB;
/** Bytes asked for in one read of an answer, at first and at most. */
export const READ_BYTES = 4 * KIB;
export const READ_BYTES_MAX = 64 * KIB;
export const KERNEL_POOL_IDLE_MS = 3_000;
/** A plain answer (GetTask, state) that takes longer is no answer. */
export const KERNEL_CALL_MS = 30_000;
/** A refused connection is tried again for this long before a new run gives up. */
export const CONNECT_RETRY_MS = 2_000;
export const CONNECT_RETRY_STEP_MS = 250;
/** Waits between the attempts to pick a cut stream up again. */
export const RECOVERY_WAITS_MS: readonly number[] = [200, 2_000, 5_000];
/** How often one run may be picked up again before the kernel counts as broken. */
export const RECOVERIES = 16;
/** "Task is already working.": the first wait, the longest wait, and all of them together. */
export const REFUSED_FIRST_WAIT_MS = 250;
export const REFUSED_LONGEST_WAIT_MS = 2_000;
export const REFUSED_TOTAL_MS = 30_000;
/** A pipeline's message waits for the cancel of the task before: longer than the kernel's own 30 s for one that does not stop. */
export const CANCELLED_BEFORE_MS = 45_000;
/** GetTask may lag behind the stream for this long. */
export const LAG_MS = 2_000;
export const LAG_STEP_MS = 200;
/** A subscription that is silent for this long may be one that tells nothing: its task is asked for. */
export const SILENT_MS = 12_000;
/** How often the kernel is asked whether a turn that it tells nobody about is over. */
export const DETACHED_STEP_MS = 500;
/** CancelTask that cannot be delivered is tried again for this long. */
export const CANCEL_RETRY_MS = 60_000;
export const CANCEL_RETRY_STEP_MS = 1_000;
/** The cancellation extension waits for CancelTask this long before it answers. */
export const CANCEL_ANSWER_MS = 2_000;
export const SHUTDOWN_MS = 10_000;
/** Messages of a task's history asked for when text may have been missed. */
export const HISTORY_MESSAGES = 1_000_000;

// A kernel that we start (docs/operators.md, "A kernel of its own")
/** As long as the Python adapter waits for it. */
export const KERNEL_START_MS = 20_000;
export const KERNEL_READY_STEP_MS = 50;
/** Waits before a kernel that died is started again; they double. */
export const KERNEL_RESTART_FIRST_MS = 500;
export const KERNEL_RESTART_LONGEST_MS = 30_000;
/** A kernel that lived this long did not die of its start. */
export const KERNEL_STEADY_MS = 60_000;
/** Asked to end, it gets this long before it is killed. */
export const KERNEL_STOP_MS = 5_000;
/** For the output of a kernel that is gone. */
export const KERNEL_LAST_WORDS_MS = 500;
export const KERNEL_LOG_LINE_CHARS = 2_000;
/** What `doctor` asks has to answer within this. */
export const DOCTOR_MS = 5_000;
/** Clocks that differ by more than this make interrupts expire too early or too late. */
export const CLOCK_SKEW_MS = 5_000;
/** How often an idle service looks whether it still is. */
export const IDLE_STEP_MS = 1_000;

// Threads
export const RUN_DIGESTS = 4096;
export const APPLIED_RESUMES = 1024;
export const TERMINAL_EXECUTIONS = 1024;
/** A thread file that is larger than this was not written by us. */
export const THREAD_FILE_BYTES = 64 * MIB;
/** A rename that a scanner refuses is tried again for this long. */
export const RENAME_RETRY_MS = 1_000;
/** A file up to this size is read and written by the thread that serves streams. */
export const AT_ONCE_BYTES = 64 * KIB;
/** So long may a call to the file system take that is made by that thread: a running mean of about this many. */
export const AT_ONCE_MS = 0.1;
export const AT_ONCE_CALLS = 64;
/** Pauses before it is tried again whether such calls are quick. */
export const AT_ONCE_FIRST_PAUSE_MS = 1_000;
export const AT_ONCE_LONGEST_PAUSE_MS = 3_600_000;

// The log
/** Remarks on what a kernel sent in one run, each different. */
export const NOTES = 16;
/** Lines that wait for a destination that takes them slowly; more are dropped and counted. */
export const LOG_LINES_WAITING = 4096;
/** Lines with the same message a minute; a kernel that is away makes every run say the same. */
export const LOG_REPEATS = 20;
export const LOG_REPEATS_MS = 60_000;
/** Different messages that are told apart for this. */
export const LOG_MESSAGES = 100;
/** A value in a line that a client or the kernel chose. */
export const LOG_VALUE_CHARS = 256;
/** At the end, lines that nobody takes are waited for this long. */
export const LOG_FLUSH_MS = 1_000;
