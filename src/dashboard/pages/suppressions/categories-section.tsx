import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Checkbox, Group } from '@mantine/core'
import { useState } from 'react'
import { suppressedCategories, type SuppressedCategory } from '../../../../contracts/dashboard/suppression.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { capitalize } from '../../language/facts.ts'
import { translate } from '../../language/i18n.ts'
import { useAccount, viewersHint } from '../../session/session.ts'
import { ConfirmModal } from '../../ui/dialog.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { categories } from './scope-choice.tsx'
import { stoppedCategoriesKey, useStoppedCategories } from './use-suppressions.ts'

interface CategoryChange {
  category: SuppressedCategory
  stops: boolean
}

/** Each change needs confirmation, because it affects everyone on the list. */
export function CategoriesSection() {
  const { accountId, canChange } = useAccount()
  const stored = useStoppedCategories()
  const stopped = stored.data?.categories ?? []
  const [changing, setChanging] = useState<SuppressedCategory>()
  const save = useChange({
    // Another owner may have changed other categories since they were read.
    change: async ({ category, stops }: CategoryChange) => {
      const { categories } = await api.suppression.settings.query({ accountId })
      const others = categories.filter((other) => other !== category)
      return api.suppression.setCategories.mutate({ accountId, categories: stops ? [...others, category] : others })
    },
    invalidates: [stoppedCategoriesKey(accountId)],
    done: t`Stopped categories saved.`,
    onDone: () => setChanging(undefined),
  })
  const stops = changing !== undefined && !stopped.includes(changing)
  return (
    <Section
      title={t`Stopped categories`}
      description={
        <>
          <Trans>The categories that recipients on the list do not get. Recipients with “All messages” get none.</Trans>
          {!canChange && ` ${translate(viewersHint)}.`}
        </>
      }
    >
      {stored.isPending && <LoadingSkeleton lines={3} />}
      {stored.isError && <ErrorAlert error={stored.error} onRetry={() => stored.refetch()} />}
      {stored.data && (
        <Group gap="xl" align="flex-start">
          {suppressedCategories.map((category) => (
            <Checkbox
              key={category}
              label={translate(categories[category].label)}
              description={
                category === 'MARKETING' ? t`Always stopped.` : capitalize(translate(categories[category].contents))
              }
              checked={stopped.includes(category)}
              disabled={!canChange || category === 'MARKETING'}
              onChange={() => setChanging(category)}
            />
          ))}
        </Group>
      )}
      <ConfirmModal
        opened={changing !== undefined}
        onClose={() => setChanging(undefined)}
        {...describeChange({ category: changing ?? 'UTILITY', stops })}
        {...(!stops && { color: 'waybill' })}
        change={{ isPending: save.isPending, mutate: () => changing && save.mutate({ category: changing, stops }) }}
      />
    </Section>
  )
}

function describeChange({ category, stops }: CategoryChange) {
  const { label, contents } = categories[category]
  const [name, what] = [translate(label), translate(contents)]
  if (stops)
    return {
      title: t`Stop ${name} for everybody on the list?`,
      consequence: t`All suppressed recipients stop getting ${what}. To stop all messages to one recipient, add the number with “All messages” instead.`,
      confirmLabel: t`Stop for everybody`,
    }
  return {
    title: t`Send ${name} to everybody on the list again?`,
    consequence: t`Suppressed recipients get ${what} again, except those whose messages are all stopped.`,
    confirmLabel: t`Send again to everybody`,
  }
}
