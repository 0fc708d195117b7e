const count = new Intl.NumberFormat('en')
const percentage = new Intl.NumberFormat('en', { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 })
const smallest = 0.001

export function describeCount(value: number): string {
  return count.format(value)
}

/** `98.2%`; `–` of nothing. Only all of it is 100.0%, and only nothing of it is 0.0%. */
export function describeShare(part: number, whole: number): string {
  if (whole === 0) return '–'
  if (part <= 0) return percentage.format(0)
  if (part >= whole) return percentage.format(1)
  return percentage.format(Math.min(Math.max(part / whole, smallest), 1 - smallest))
}
