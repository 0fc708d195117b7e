import { Box, Group, Paper, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconKey, IconPlugConnected } from '@tabler/icons-react'
import { useState } from 'react'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { settings } from '../../api/settings.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { Copyable } from '../../ui/copyable.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { MoreMenu } from './more-menu.tsx'
import { Notice, type TokenTest } from './notice.tsx'
import { ReplaceSecretsModal } from './replace-secrets-modal.tsx'
import { useWhatsAppAccountChange } from './use-whatsapp-account-change.ts'
import { WhatsAppAccountFacts } from './whatsapp-account-facts.tsx'

export function WhatsAppAccountCard({ account }: { account: WhatsAppAccount }) {
  const [replacing, { open, close }] = useDisclosure()
  const [test, setTest] = useState<TokenTest>()
  const ask = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: settings.whatsAppAccount.test.mutate,
    onDone: setTest,
  })
  const forgetTest = () => setTest(undefined)
  return (
    <Paper
      component="section"
      aria-label={`WhatsApp account ${account.phoneNumberId}`}
      withBorder
      p={{ base: 'md', sm: 'lg' }}
    >
      <Group justify="space-between" align="flex-start" gap="md">
        <Box miw={0}>
          <Title order={2}>
            <Text component="span" display="block" size="xs" fw={400} c="dimmed">
              {account.verifiedName ?? 'Phone number ID'}
            </Text>
            {account.displayPhoneNumber ?? account.phoneNumberId}
          </Title>
          <Group gap={6} mt={6}>
            <State account={account} />
            {account.isDefault && <StatusBadge tone="active">Default</StatusBadge>}
          </Group>
        </Box>
        <Group gap="xs">
          <ChangeButton
            variant="default"
            leftSection={<IconPlugConnected size={16} />}
            loading={ask.isPending}
            onClick={() => ask.mutate()}
          >
            Test token
          </ChangeButton>
          <ChangeButton variant="default" leftSection={<IconKey size={16} />} onClick={open}>
            Replace secrets
          </ChangeButton>
          <MoreMenu account={account} onChanged={forgetTest} />
        </Group>
      </Group>
      <Notice account={account} test={test} onReplace={open} onActivated={forgetTest} onClose={forgetTest} />
      <WhatsAppAccountFacts account={account} />
      <Text size="xs" c="dimmed" mt="md" component="div">
        Requests name it by <Copyable value={account.whatsAppAccountId} label="WhatsApp account ID" />
      </Text>
      <ReplaceSecretsModal account={account} opened={replacing} onClose={close} onReplaced={forgetTest} />
    </Paper>
  )
}

function State({ account }: { account: WhatsAppAccount }) {
  if (account.active) return <StatusBadge tone="good">Active</StatusBadge>
  if (account.switchedOff) return <StatusBadge tone="neutral">Inactive</StatusBadge>
  return <StatusBadge tone="bad">Inactive: refused by WhatsApp</StatusBadge>
}
