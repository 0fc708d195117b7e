import { UsageError } from './usage-error.ts'

const secondsOf = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
])

/** Seconds of a time such as `30m` or `24h`; undefined when it is none. */
export function readDuration(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const seconds = secondsOf.get(unit)
  return amount === undefined || seconds === undefined ? undefined : Number(amount) * seconds
}

export function parseDuration(option: string, text: string): number {
  const seconds = readDuration(text)
  if (seconds === undefined) throw new UsageError(`--${option} must be a time such as 30m, 24h or 7d.`)
  return seconds
}
