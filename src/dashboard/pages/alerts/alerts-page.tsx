import { PageHeader } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { ChatSection } from './chat-section.tsx'
import { EmailSection } from './email-section.tsx'
import { ListSection } from './list-section.tsx'
import { RulesSection } from './rules-section.tsx'
import { useAlertSettings } from './use-alerts.ts'

export function AlertsPage() {
  const { data, error, isPending, refetch } = useAlertSettings()
  return (
    <>
      <PageHeader
        title="Alerts"
        description="Waybill alerts you once when a problem starts, and once more when it is resolved."
      />
      <ListSection />
      {isPending && <LoadingSkeleton />}
      {error && <ErrorAlert error={error} onRetry={() => refetch()} />}
      {data && (
        <>
          <ChatSection chat={data.chat} />
          <EmailSection />
          <RulesSection rules={data} />
        </>
      )}
    </>
  )
}
