import { Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconBrandWhatsapp, IconPlus } from '@tabler/icons-react'
import { ChangeButton } from '../../ui/change-button.tsx'
import { PageHeader } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { AddModal } from './add-modal.tsx'
import { useWhatsAppAccounts } from './use-whatsapp-accounts.ts'
import { WhatsAppAccountCard } from './whatsapp-account-card.tsx'

export function WhatsAppAccountsPage() {
  const accounts = useWhatsAppAccounts()
  const [adding, { open, close }] = useDisclosure()
  const isEmpty = accounts.data?.length === 0
  const addButton = (
    <ChangeButton leftSection={<IconPlus size={16} />} onClick={open}>
      Add WhatsApp account
    </ChangeButton>
  )
  return (
    <>
      <PageHeader
        title="WhatsApp accounts"
        description="The business phone numbers that your messages come from. The default one sends when a request names none."
        actions={isEmpty ? undefined : addButton}
      />
      {accounts.isPending && <LoadingSkeleton lines={6} />}
      {accounts.isError && <ErrorAlert error={accounts.error} onRetry={() => void accounts.refetch()} />}
      {isEmpty && (
        <EmptyState icon={IconBrandWhatsapp} title="No WhatsApp account yet" action={addButton}>
          To send, Waybill needs a business phone number on Meta’s WhatsApp Business Platform: its phone number ID, the
          ID of the WhatsApp Business Account (WABA) it belongs to, and an access token of a system user.
        </EmptyState>
      )}
      <Stack gap="lg">
        {accounts.data?.map((account) => (
          <WhatsAppAccountCard key={account.whatsAppAccountId} account={account} />
        ))}
      </Stack>
      <AddModal opened={adding} onClose={close} isFirst={isEmpty} />
    </>
  )
}
