/** `a minute` where the server does not say how long. */
export function describeWait(seconds: number): string {
  if (!(seconds > 0)) return 'a minute'
  if (seconds <= 90) return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
  return `${Math.ceil(seconds / 60)} minutes`
}
