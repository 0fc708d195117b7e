import { PageHeader } from '../../ui/page-header.tsx'

export function MessagesPage() {
  return <PageHeader title="Messages" />
}
