import type { Overview } from '../../../../contracts/dashboard/overview.ts'

export type DayCounts = Overview['days'][number]

export type Totals = Omit<DayCounts, 'date' | 'failedLater'>

export function addUp(days: readonly DayCounts[]): Totals {
  const totals = { sent: 0, delivered: 0, read: 0, failed: 0 }
  for (const { sent, delivered, read, failed } of days) {
    totals.sent += sent
    totals.delivered += delivered
    totals.read += read
    totals.failed += failed
  }
  return totals
}
