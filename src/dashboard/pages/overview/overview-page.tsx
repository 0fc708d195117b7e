import { SegmentedControl } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { useAccount } from '../../session/account.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { LoadingSkeleton } from '../../ui/loading-skeleton.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { DailySection } from './daily-section.tsx'
import { FailuresSection } from './failures-section.tsx'
import { Figures } from './figures.tsx'
import { LatestMessages } from './latest-messages.tsx'
import { NothingSentYet } from './nothing-sent-yet.tsx'
import styles from './overview.module.css'
import { periods, readPeriod, writePeriod } from './period.ts'
import { TimeToDeliveredSection } from './time-to-delivered-section.tsx'
import { addUp } from './totals.ts'
import { useLatestMessages, useOverview } from './use-overview.ts'

export function OverviewPage() {
  const { accountId } = useAccount()
  const [search, setSearch] = useSearchParams()
  const period = readPeriod(search)
  const overview = useOverview(accountId, period)
  const latest = useLatestMessages(accountId)
  const totals = overview.data && addUp(overview.data.days)
  const isEmpty = totals?.sent === 0 && totals.failed === 0 && latest.data?.length === 0
  const show = (days: string) => setSearch((before) => writePeriod(before, days), { replace: true })
  return (
    <>
      <PageHeader
        title="Overview"
        description="What this account sent, and what became of it."
        actions={
          !isEmpty && (
            <SegmentedControl
              aria-label="Period"
              data={periods.map((days) => ({ value: String(days), label: `${days} days` }))}
              value={String(period)}
              onChange={show}
            />
          )
        }
      />
      {overview.isError && <ErrorAlert error={overview.error} onRetry={() => void overview.refetch()} />}
      {overview.isPending && <LoadingSkeleton lines={8} />}
      {overview.data && totals && !isEmpty && (
        <div aria-busy={overview.isPlaceholderData} className={styles['body']}>
          <Figures totals={totals} />
          <div className={styles['chartAndLatest']}>
            <DailySection days={overview.data.days} />
            <LatestMessages latest={latest} />
          </div>
          <div className={styles['pair']}>
            <TimeToDeliveredSection
              timeToDelivered={overview.data.timeToDelivered}
              dayCount={overview.data.days.length}
            />
            <FailuresSection
              failures={overview.data.failures}
              failed={totals.failed}
              dayCount={overview.data.days.length}
            />
          </div>
        </div>
      )}
      {isEmpty && <NothingSentYet />}
    </>
  )
}
