/** What a command returns to the shell, and what to say if its output could not be written. */
export interface Ending {
  exitCode: number
  /** How to get output again that is shown only once. */
  ifLost?: string | undefined
}

/**
 * Runs a command and fails if standard output could not be written, for example because the disk is full or the reader
 * closed the pipe: `console.log` ignores that.
 */
export async function withOutputCheck(run: () => Promise<Ending>): Promise<number> {
  const { stdout } = process
  let failure: Error | undefined
  const onError = (error: Error) => (failure ??= error)
  stdout.on('error', onError)
  try {
    const { exitCode, ifLost } = await run()
    // Resolves after everything before it was written or failed.
    await new Promise<void>((resolve) => void stdout.write('', () => setImmediate(resolve)))
    if (!failure || exitCode !== 0) return exitCode
    console.error(describe(failure, ifLost))
    return 1
  } finally {
    // A failed stream can report the error again.
    if (!failure) stdout.off('error', onError)
  }
}

function describe(failure: Error, ifLost: string | undefined): string {
  const code = 'code' in failure && typeof failure.code === 'string' ? failure.code : 'unknown error'
  const problem = `The output could not be written to standard output (${code}).`
  return ifLost === undefined
    ? `${problem} The command itself has ended successfully.`
    : `${problem} What it shows once is lost: ${ifLost}`
}
