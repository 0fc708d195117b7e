import { PageHeader } from '../../ui/page-header.tsx'

export function MessagePage() {
  return <PageHeader title="Message" />
}
