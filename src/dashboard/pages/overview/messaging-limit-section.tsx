import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Group, Paper, Progress, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import { useAccount } from '../../session/session.ts'
import { describeAddressed } from '../whatsapp-accounts/describe-addressed.ts'
import { useHealth } from '../whatsapp-accounts/use-health.ts'
import { nameNumber } from '../../ui/phone-number.ts'

/** How much of the messaging limit each business portfolio has used. Empty without a limit. */
export function MessagingLimitSection() {
  const { accountId } = useAccount()
  const portfolios = groupByPortfolio(useHealth(accountId).data?.whatsAppAccounts ?? [])
  return portfolios.map((numbers) => (
    <PortfolioLimit key={numbers[0].accountId} numbers={numbers} isOnly={portfolios.length === 1} />
  ))
}

type Numbers = [WhatsAppAccountHealth, ...WhatsAppAccountHealth[]]

/** The numbers of a portfolio share its limit. Before the first check, a number is alone. */
function groupByPortfolio(accounts: readonly WhatsAppAccountHealth[]): Numbers[] {
  const limited = accounts.filter(({ active, number }) => active && number.addressed !== undefined)
  const groups = Map.groupBy(limited, ({ accountId, number }) => number.portfolioId ?? accountId)
  return [...groups.values()].flatMap(([first, ...others]): Numbers[] => (first ? [[first, ...others]] : []))
}

function PortfolioLimit({ numbers, isOnly }: { numbers: Numbers; isOnly: boolean }) {
  const { accountId } = useAccount()
  const { addressed } = numbers[0].number
  if (!addressed) return null
  const names = numbers.map(nameNumber)
  const percent = Math.min(100, (addressed.people * 100) / addressed.limit)
  return (
    <Paper component="section" aria-label={t`Messaging limit`} withBorder px="md" py="xs" mb="lg">
      <Group justify="space-between" gap="sm" mb={6}>
        <Text size="sm">
          <Trans>Messaging limit</Trans>
          {!isOnly && ` (${names.join(', ')})`}
        </Text>
        <Anchor component={Link} to={`/${accountId}/whatsapp-accounts`} size="sm">
          {describeAddressed(addressed)}
        </Anchor>
      </Group>
      <Progress.Root size="sm">
        <Progress.Section value={percent} color={colourOf(percent)} aria-label={t`Used of the messaging limit`} />
      </Progress.Root>
    </Paper>
  )
}

/** As in the findings of the WhatsApp account. */
function colourOf(percent: number): string {
  if (percent >= 100) return 'red'
  return percent >= 80 ? 'yellow' : 'waybill'
}
