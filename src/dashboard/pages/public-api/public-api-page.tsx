import { PageHeader } from '../../ui/page-header.tsx'

export function PublicApiPage() {
  return <PageHeader title="Public API" />
}
