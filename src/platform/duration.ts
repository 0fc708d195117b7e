export const secondsOf = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Parses a duration such as `30m` or `24h` into seconds; undefined if it is not one. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  // Safe cast: the pattern allows only these units.
  return unit === undefined ? undefined : Number(amount) * secondsOf[unit as keyof typeof secondsOf]
}
