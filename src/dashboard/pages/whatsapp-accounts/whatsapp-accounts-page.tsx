import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Group, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconBrandWhatsapp, IconPlugConnected } from '@tabler/icons-react'
import { useNavigate } from 'react-router'
import { ChangeButton } from '../../ui/button.tsx'
import { PageHeader } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert } from '../../ui/placeholders.tsx'
import { CardsSkeleton } from '../../ui/skeletons.tsx'
import { AddModal } from './add-modal.tsx'
import { ViewerNotice } from './viewer-notice.tsx'
import { useWhatsAppAccounts } from './use-whatsapp-accounts.ts'
import { WhatsAppAccountCard } from './whatsapp-account-card.tsx'

export function WhatsAppAccountsPage() {
  const accounts = useWhatsAppAccounts()
  const navigate = useNavigate()
  const [adding, { open, close }] = useDisclosure()
  const isEmpty = accounts.data?.length === 0
  const connectButton = (
    <ChangeButton icon={IconPlugConnected} onClick={() => void navigate('connect')}>{t`Connect a number`}</ChangeButton>
  )
  const addButton = <ChangeButton variant="default" onClick={open}>{t`Add by ID`}</ChangeButton>
  return (
    <>
      <PageHeader
        title={t`WhatsApp accounts`}
        description={t`Business phone numbers that send your messages. Requests without an accountId use the default.`}
        actions={
          !isEmpty && (
            <>
              {addButton}
              {connectButton}
            </>
          )
        }
      />
      <ViewerNotice what={t`add, change or remove numbers`} />
      {accounts.isPending && <CardsSkeleton />}
      {accounts.isError && <ErrorAlert error={accounts.error} onRetry={() => void accounts.refetch()} />}
      {isEmpty && (
        <EmptyState
          icon={IconBrandWhatsapp}
          title={t`No WhatsApp account yet`}
          action={
            <Group gap="sm" justify="center">
              {connectButton}
              {addButton}
            </Group>
          }
        >
          <Trans>
            Connect a business phone number to send messages: Waybill guides you from the access token to the first
            delivered message. If you know its IDs, add it directly.
          </Trans>
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
