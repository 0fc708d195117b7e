const units = [
  { short: 'd', milliseconds: 86_400_000 },
  { short: 'h', milliseconds: 3_600_000 },
  { short: 'min', milliseconds: 60_000 },
  { short: 's', milliseconds: 1000 },
] as const

/** `214 ms`, `1.8 s`, `42 s`, `2 min 5 s`, `3 d 4 h`: the two largest units say enough. */
export function describeDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 10_000) return `${(milliseconds / 1000).toFixed(1)} s`
  const largest = units.findIndex((unit) => milliseconds >= unit.milliseconds)
  let rest = milliseconds
  const parts: string[] = []
  for (const unit of units.slice(largest, largest + 2)) {
    const count = Math.floor(rest / unit.milliseconds)
    rest -= count * unit.milliseconds
    if (count > 0) parts.push(`${count} ${unit.short}`)
  }
  return parts.join(' ')
}
