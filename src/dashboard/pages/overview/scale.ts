import type { DayCounts } from './totals.ts'

export interface Scale {
  /** In whole messages. */
  ticks: number[]
  domain: [number, number]
}

const maxSteps = 4
/** A first message does not fill the whole height. */
const leastTop = 4
/** What failed can still be seen where little did. */
const leastShareBelow = 0.06

/** The axis of the counts: sent upwards, failed downwards, in steps of 1, 2 or 5 times a power of ten. */
export function scaleOf(days: readonly Pick<DayCounts, 'sent' | 'failed'>[]): Scale {
  const sent = Math.max(leastTop, ...days.map(({ sent }) => sent))
  const failed = Math.max(0, ...days.map(({ failed }) => failed))
  const step = roundUp(Math.max(sent, failed) / maxSteps)
  const top = Math.ceil(sent / step) * step
  const bottom = failed === 0 ? 0 : Math.max(failed, leastShareBelow * top)
  const [below, above] = [Math.floor(bottom / step), top / step]
  return {
    ticks: Array.from({ length: below + above + 1 }, (_, index) => (index - below) * step),
    domain: [0 - bottom, top],
  }
}

function roundUp(value: number): number {
  if (value <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 5].find((factor) => factor * power >= value) ?? 10)
}
