import { PageHeader } from '../../ui/page-header.tsx'

export function AuditLogPage() {
  return <PageHeader title="Audit log" />
}
