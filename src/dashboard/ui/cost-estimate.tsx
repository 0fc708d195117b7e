import { Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { estimateCost } from '../../../contracts/dashboard/cost.ts'
import type { CostEstimate } from '../../../contracts/pricing.ts'
import { api } from '../api/client.ts'
import { useAccount, useUser } from '../session/session.ts'
import { describeAmount, describeCardDate, describeCategory } from './money.ts'

interface CostEstimateTextProps {
  /** A number without punctuation, as far as it is typed. */
  to: string
  /** Of the template; undefined if WhatsApp did not report it. */
  category: string | undefined
}

const typingMilliseconds = 300

/** What a message would cost, as soon as the number is complete. In the sandbox, messages cost nothing. */
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
  if (!input.success || !data?.hasRateCard) return null
  return (
    <Text size="sm" aria-live="polite">
      {data.estimate ? (
        <Estimate estimate={data.estimate} isSandbox={sandbox !== undefined} />
      ) : (
        'The rate card has no rate for this number.'
      )}
    </Text>
  )
}

function Estimate({ estimate, isSandbox }: { estimate: CostEstimate; isSandbox: boolean }) {
  const { amount, internationalAmount, currency, category, market, rateCardDate } = estimate
  return (
    <>
      Estimated cost: <strong>{describeAmount(amount, currency)}</strong>
      {internationalAmount !== undefined && ` (international: ${describeAmount(internationalAmount, currency)})`}{' '}
      <Text span c="dimmed" inherit>
        {isSandbox ? 'outside the sandbox' : 'if delivered'} · {describeCategory(category)}, {market}, rates in{' '}
        {currency} from {describeCardDate(rateCardDate)}
      </Text>
    </>
  )
}
