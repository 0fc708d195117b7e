/** Decimals of rates and amounts. Money is stored exactly, in millionths. */
const decimals = 6
const unit = 10n ** BigInt(decimals)

/** Undefined if the text is not a decimal such as `0.0509` with at most six digits on each side of the point. */
export function parseMicros(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,6})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole) * unit + BigInt(fraction.padEnd(decimals, '0'))
}

/** As a decimal without superfluous zeros: `0.0509`. */
export function formatMicros(micros: bigint): string {
  const fraction = String(micros % unit)
    .padStart(decimals, '0')
    .replace(/0+$/, '')
  return fraction === '' ? String(micros / unit) : `${micros / unit}.${fraction}`
}
