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
        description="Business phone numbers that send your messages. The default is used when a request doesn’t set accountId."
        actions={isEmpty ? undefined : addButton}
      />
      {accounts.isPending && <LoadingSkeleton lines={6} />}
      {accounts.isError && <ErrorAlert error={accounts.error} onRetry={() => void accounts.refetch()} />}
      {isEmpty && (
        <EmptyState icon={IconBrandWhatsapp} title="No WhatsApp account yet" action={addButton}>
          Add a business phone number from Meta’s WhatsApp Business Platform to send messages. You need its phone number
          ID, its WhatsApp Business Account (WABA) ID and the access token of a system user.
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
