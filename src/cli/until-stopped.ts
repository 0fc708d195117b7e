/** npm forwards the Ctrl+C that the terminal has already sent to all processes, so one key press causes two signals. */
const echoMilliseconds = 500

/** The signals that stop a server, with the exit codes of a process that they terminate. */
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }
export type StopSignal = keyof typeof exitCodes

/**
 * Resolves at the first of the signals. A second one terminates the process immediately. SIGUSR1, which other servers
 * take as a request to reopen their log, does nothing: in Node, it opens a debugger to all users of the machine.
 */
export function untilStopped<Signal extends StopSignal>(signals: readonly Signal[]): Promise<Signal> {
  const { promise, resolve } = Promise.withResolvers<Signal>()
  let firstAt: number | undefined
  const receive = (signal: Signal) => {
    if (firstAt !== undefined && Date.now() - firstAt > echoMilliseconds) process.exit(exitCodes[signal])
    firstAt ??= Date.now()
    resolve(signal)
  }
  for (const signal of signals) process.on(signal, () => receive(signal))
  process.on('SIGUSR1', () => {})
  return promise
}
