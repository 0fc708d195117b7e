import { t } from '@lingui/core/macro'
import { PageHeader } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { CardsSkeleton } from '../../ui/skeletons.tsx'
import { ChatSection } from './chat-section.tsx'
import { EmailSection } from './email-section.tsx'
import { ListSection } from './list-section.tsx'
import { ProblemsSection } from './problems-section.tsx'
import { RulesSection } from './rules-section.tsx'
import { useAlertSettings } from './use-alerts.ts'

export function AlertsPage() {
  const { data, error, isPending, refetch } = useAlertSettings()
  return (
    <>
      <PageHeader
        title={t`Alerts`}
        description={t`Waybill alerts you once when a problem starts, and once more when it is resolved.`}
      />
      <ListSection />
      {isPending && <CardsSkeleton cards={5} />}
      {error && <ErrorAlert error={error} onRetry={() => refetch()} />}
      {data && (
        <>
          <EmailSection />
          <ChatSection chat={data.chat} />
          <ProblemsSection rules={data} />
          <RulesSection rules={data} />
        </>
      )}
    </>
  )
}
