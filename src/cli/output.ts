/** What a command returns to the shell, and what to say if its output could not be written. */
export interface CommandExit {
  exitCode: number
  /** How to get output again that is shown only once. */
  ifLost?: string | undefined
}

/** Standard output could not be written while the command was still running. */
export class OutputError extends Error {
  constructor(cause: Error) {
    super(`The output could not be written to standard output (${findCode(cause)}).`, { cause })
    this.name = 'OutputError'
  }

  /** Whether the reader, such as `head`, has read enough. */
  get isClosedPipe(): boolean {
    return this.cause instanceof Error && findCode(this.cause) === closedPipe
  }
}

const closedPipe = 'EPIPE'

/**
 * Runs a command and fails if standard output could not be written, for example because the disk is full: `console.log`
 * ignores that. If the reader closed the pipe, the command fails silently, unless something is lost.
 */
export async function withOutputCheck(run: () => Promise<CommandExit>): Promise<number> {
  const { stdout } = process
  let failure: Error | undefined
  const onError = (error: Error) => (failure ??= error)
  stdout.on('error', onError)
  try {
    const { exitCode, ifLost } = await run()
    // Resolves after everything before it was written or failed.
    await new Promise<void>((resolve) => void stdout.write('', () => setImmediate(resolve)))
    if (!failure || exitCode !== 0) return exitCode
    if (ifLost !== undefined || findCode(failure) !== closedPipe) console.error(describe(failure, ifLost))
    return 1
  } finally {
    // A failed stream can report the error again.
    if (!failure) stdout.off('error', onError)
  }
}

function describe(failure: Error, ifLost: string | undefined): string {
  const problem = new OutputError(failure).message
  return ifLost === undefined
    ? `${problem} The command itself has ended successfully.`
    : `${problem} What it shows once is lost: ${ifLost}`
}

function findCode(failure: Error): string {
  return 'code' in failure && typeof failure.code === 'string' ? failure.code : 'unknown error'
}
