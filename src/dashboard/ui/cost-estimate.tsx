import { Trans } from '@lingui/react/macro'
import { t } from '@lingui/core/macro'
import { Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { estimateCost } from '../../../contracts/dashboard/cost.ts'
import type { CostEstimate } from '../../../contracts/pricing.ts'
import { api } from '../api/client.ts'
import { describeCountry } from '../language/format.ts'
import { useAccount, useUser } from '../session/session.ts'
import { describeCategory, describePrice } from './money.ts'
import { describeDay } from './time.ts'

interface CostEstimateTextProps {
  /** The number typed so far, without punctuation. */
  to: string
  /** Category of the template; undefined if WhatsApp did not report it. */
  category: string | undefined
}

const typingMilliseconds = 300

/** The country of a number and the estimated cost of a message to it, once the number is complete. */
export function CostEstimateText({ to, category }: CostEstimateTextProps) {
  const { accountId } = useAccount()
  const { sandbox } = useUser()
  const [typed] = useDebouncedValue(to, typingMilliseconds)
  const input = estimateCost.input.safeParse({ accountId, to: typed, category })
  const { data } = useQuery({
    queryKey: ['cost', accountId, 'estimate', typed, category],
    queryFn: ({ signal }) =>
      api.cost.estimate.query(estimateCost.input.parse({ accountId, to: typed, category }), { signal }),
    enabled: input.success,
  })
  if (!input.success || !data || data.isIncomplete) return null
  const { country, estimate, hasRateCard } = data
  return (
    <Text size="sm" aria-live="polite" component="div">
      {country !== undefined && <div>{t`Country of the number: ${describeCountry(country)}`}</div>}
      {estimate && <Estimate estimate={estimate} isSandbox={sandbox !== undefined} />}
      {!estimate && hasRateCard && category !== undefined && t`The rate card has no rate for this number.`}
    </Text>
  )
}

function Estimate({ estimate, isSandbox }: { estimate: CostEstimate; isSandbox: boolean }) {
  const { amount, internationalAmount, currency, category, market, rateCardDate } = estimate
  const [cost, cardDate, categoryName] = [
    describePrice(amount, currency),
    describeDay(rateCardDate),
    describeCategory(category),
  ]
  return (
    <div>
      <Trans>
        Estimated cost: <strong>{cost}</strong>
      </Trans>{' '}
      {internationalAmount !== undefined && `(${t`international: ${describePrice(internationalAmount, currency)}`}) `}
      <Text span c="dimmed" inherit>
        {isSandbox ? t`outside the sandbox` : t`if delivered`} ·{' '}
        <Trans>
          {categoryName}, {market}, rates in {currency} from {cardDate}
        </Trans>
      </Text>
    </div>
  )
}
