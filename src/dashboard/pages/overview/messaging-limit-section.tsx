import { t } from '@lingui/core/macro'
import { Box, Group, Paper, Progress, Text } from '@mantine/core'
import type { WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import { useAccount } from '../../session/session.ts'
import { describeAddressed } from '../whatsapp-accounts/describe.ts'
import { useHealth } from '../whatsapp-accounts/use-health.ts'
import { nameNumber } from '../../ui/phone-number.ts'
import { TextLink } from '../../ui/button.tsx'

/** From this share on, the health of the WhatsApp account has a finding. */
const nearPercent = 80

/**
 * How much of its messaging limit each business portfolio has used. With `isNear`, only if one of them is near its limit,
 * and without it only if none is. Empty without a limit.
 */
export function MessagingLimitSection({ isNear }: { isNear: boolean }) {
  const { accountId } = useAccount()
  const portfolios = groupByPortfolio(useHealth(accountId).data?.whatsAppAccounts ?? [])
  const percents = portfolios.map(percentOf)
  if (portfolios.length === 0 || percents.some((percent) => percent >= nearPercent) !== isNear) return null
  return (
    <Paper component="section" aria-label={t`Messaging limit`} withBorder px="md" py="xs" mb="lg">
      {portfolios.length > 1 && <Text size="sm" fw={600}>{t`Messaging limit`}</Text>}
      {portfolios.map((numbers) => (
        <PortfolioLimit key={numbers[0].accountId} numbers={numbers} isOnly={portfolios.length === 1} />
      ))}
    </Paper>
  )
}

type Numbers = [WhatsAppAccountHealth, ...WhatsAppAccountHealth[]]

/** The numbers of a portfolio share its limit. Before the first check, a number is alone. */
function groupByPortfolio(accounts: readonly WhatsAppAccountHealth[]): Numbers[] {
  const limited = accounts.filter(({ active, number }) => active && number.addressed !== undefined)
  const groups = Map.groupBy(limited, ({ accountId, number }) => number.portfolioId ?? accountId)
  return [...groups.values()].flatMap(([first, ...others]): Numbers[] => (first ? [[first, ...others]] : []))
}

function percentOf([{ number }]: Numbers): number {
  return number.addressed ? Math.min(100, (number.addressed.people * 100) / number.addressed.limit) : 0
}

function PortfolioLimit({ numbers, isOnly }: { numbers: Numbers; isOnly: boolean }) {
  const { accountId } = useAccount()
  const { addressed } = numbers[0].number
  if (!addressed) return null
  const names = numbers.map(nameNumber)
  const percent = percentOf(numbers)
  return (
    <Box my={6}>
      <Group justify="space-between" gap="sm" mb={6}>
        <Text size="sm">{isOnly ? t`Messaging limit` : names.join(', ')}</Text>
        <TextLink to={`/${accountId}/whatsapp-accounts`} size="sm">
          {describeAddressed(addressed)}
        </TextLink>
      </Group>
      <Progress.Root size="sm">
        <Progress.Section
          value={percent}
          color={colourOf(percent)}
          aria-label={t`Share of the messaging limit that is used`}
        />
      </Progress.Root>
    </Box>
  )
}

/** As in the findings of the WhatsApp account. */
function colourOf(percent: number): string {
  if (percent >= 100) return 'red'
  return percent >= nearPercent ? 'yellow' : 'waybill'
}
