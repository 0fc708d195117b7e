import { PageHeader } from '../../ui/page-header.tsx'

export function OverviewPage() {
  return <PageHeader title="Overview" />
}
