/** npm forwards the Ctrl+C that the terminal has already sent to all processes, so one key press causes two signals. */
const echoMilliseconds = 500

/** Resolves at the first SIGINT or SIGTERM. A second signal terminates the process immediately. */
export function untilStopped(): Promise<'SIGINT' | 'SIGTERM'> {
  const { promise, resolve } = Promise.withResolvers<'SIGINT' | 'SIGTERM'>()
  let firstAt: number | undefined
  const receive = (signal: 'SIGINT' | 'SIGTERM') => {
    if (firstAt !== undefined && Date.now() - firstAt > echoMilliseconds) process.exit(signal === 'SIGINT' ? 130 : 143)
    firstAt ??= Date.now()
    resolve(signal)
  }
  process.on('SIGINT', receive)
  process.on('SIGTERM', receive)
  return promise
}
