import { PageHeader } from '../../ui/page-header.tsx'

export function WhatsAppAccountsPage() {
  return <PageHeader title="WhatsApp accounts" />
}
