import { Checkbox, Stack, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { suppressedCategories, type SuppressedCategory } from '../../../../contracts/dashboard/suppression.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount, viewersHint } from '../../session/session.ts'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'

const categories = {
  MARKETING: { label: 'Marketing', description: 'Always stopped.' },
  UTILITY: { label: 'Utility', description: 'Order confirmations, reminders and other messages about a transaction.' },
  AUTHENTICATION: { label: 'Authentication', description: 'One-time codes.' },
} satisfies Record<SuppressedCategory, { label: string; description: string }>

export function CategoriesSection() {
  const { accountId, canChange } = useAccount()
  const key = ['suppression-settings', accountId]
  const stored = useQuery({ queryKey: key, queryFn: () => api.suppression.settings.query({ accountId }) })
  const save = useChange({
    change: (chosen: SuppressedCategory[]) => api.suppression.setCategories.mutate({ accountId, categories: chosen }),
    invalidates: [key],
    done: 'Stopped categories saved.',
  })
  // Shows a choice while it is saved.
  const chosen = (save.isPending ? save.variables : stored.data?.categories) ?? []
  return (
    <Section
      title="Stopped categories"
      description="Templates of these categories are not sent to suppressed recipients."
    >
      {stored.isPending && <LoadingSkeleton lines={3} />}
      {stored.isError && <ErrorAlert error={stored.error} onRetry={() => stored.refetch()} />}
      {stored.data && (
        <Tooltip label={viewersHint} disabled={canChange} position="top-start">
          <Stack gap="xs" w="fit-content">
            {suppressedCategories.map((category) => (
              <Checkbox
                key={category}
                label={categories[category].label}
                description={categories[category].description}
                checked={chosen.includes(category)}
                disabled={!canChange || category === 'MARKETING' || save.isPending}
                onChange={(event) => {
                  const others = chosen.filter((other) => other !== category)
                  save.mutate(event.currentTarget.checked ? [...others, category] : others)
                }}
              />
            ))}
          </Stack>
        </Tooltip>
      )}
    </Section>
  )
}
