/** npm passes on the Ctrl+C that the terminal has sent to everybody: one key, two signals. */
const echoMilliseconds = 500

/** Resolves at the first SIGINT or SIGTERM. Whoever asks again, because stopping takes too long, gets it at once. */
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
