import styles from './overview.module.css'
import type { Segment } from './statistics.ts'

const [width, height] = [100, 24]

/** A trend line without a scale. The chart below has one. */
export function Sparkline({ values, segment }: { values: readonly number[]; segment: Segment }) {
  const top = Math.max(1, ...values)
  const step = values.length > 1 ? width / (values.length - 1) : width
  const points = values.map(
    (value, index) => `${round(index * step)},${round(height - (value / top) * (height - 2) - 1)}`,
  )
  return (
    <svg
      className={styles['sparkline']}
      data-line={segment}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden
    >
      <polygon points={`0,${height} ${points.join(' ')} ${width},${height}`} />
      <polyline points={points.join(' ')} />
    </svg>
  )
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
