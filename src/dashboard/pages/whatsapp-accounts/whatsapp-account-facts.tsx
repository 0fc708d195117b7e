import { Box, SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { Copyable } from '../../ui/copyable.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { QualityBadge } from '../../ui/quality-badge.tsx'
import { describeThroughput } from './describe-throughput.ts'

export function WhatsAppAccountFacts({ account }: { account: WhatsAppAccount }) {
  return (
    <SimpleGrid component="dl" cols={{ base: 2, md: 3 }} spacing="lg" verticalSpacing="md" mt="lg" mb={0}>
      <Fact name="Phone number ID">
        <Copyable value={account.phoneNumberId} label="Phone number ID" />
      </Fact>
      <Fact name="WABA ID">
        <Copyable value={account.wabaId} label="WABA ID" />
      </Fact>
      <Fact name="Quality rating">
        <QualityBadge quality={account.qualityRating} />
      </Fact>
      <Fact name="Throughput">
        {account.throughputLevel === undefined ? (
          <Text component="span" size="sm" c="dimmed">
            Not reported yet
          </Text>
        ) : (
          describeThroughput(account.throughputLevel)
        )}
      </Fact>
      <Fact name="Access token">Set, never shown</Fact>
      <Fact name="App secret">{account.hasAppSecret ? 'Set, never shown' : 'Not set'}</Fact>
      {account.hasAppSecret && (
        <Fact name="Callback URL of its app">
          <Copyable value={callbackUrl(account)} label="Callback URL" />
        </Fact>
      )}
      <Fact name="Added">
        <DateTime at={account.createdAt} />
      </Fact>
    </SimpleGrid>
  )
}

/** What to enter in the Meta app whose secret is set here. */
function callbackUrl({ whatsAppAccountId }: WhatsAppAccount): string {
  return new URL(`/webhooks/whatsapp/${whatsAppAccountId}`, window.location.origin).href
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Box>
      <Text component="dt" size="xs" c="dimmed" mb={2}>
        {name}
      </Text>
      <Box component="dd" m={0} fz="sm" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Box>
    </Box>
  )
}
