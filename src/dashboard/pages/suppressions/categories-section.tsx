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
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
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
      <ConfirmCategory
        category={changing}
        stops={changing !== undefined && !stopped.includes(changing)}
        pending={save.isPending}
        onClose={() => setChanging(undefined)}
        onConfirm={(category, stops) => save.mutate({ category, stops })}
      />
    </Section>
  )
}

interface ConfirmCategoryProps {
  /** Undefined if the dialog is closed. */
  category: SuppressedCategory | undefined
  /** Whether the change stops the category. */
  stops: boolean
  pending: boolean
  onConfirm: (category: SuppressedCategory, stops: boolean) => void
  onClose: () => void
}

function ConfirmCategory({ category, stops, pending, onConfirm, onClose }: ConfirmCategoryProps) {
  const { label, contents } = categories[category ?? 'UTILITY']
  const [name, what] = [translate(label), translate(contents)]
  return (
    <ConfirmModal
      opened={category !== undefined}
      onClose={onClose}
      title={stops ? t`Stop ${name} for everybody on the list?` : t`Send ${name} to everybody on the list again?`}
      consequence={
        stops ? (
          <Trans>
            All suppressed recipients stop getting {what}. To stop all messages to one recipient, add the number with
            “All messages” instead.
          </Trans>
        ) : (
          <Trans>Suppressed recipients get {what} again, except those whose messages are all stopped.</Trans>
        )
      }
      confirmLabel={stops ? t`Stop for everybody` : t`Send again to everybody`}
      {...(!stops && { color: 'waybill' })}
      pending={pending}
      onConfirm={() => category !== undefined && onConfirm(category, stops)}
    />
  )
}
