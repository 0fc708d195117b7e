import { Stack } from '@mantine/core'
import { useState } from 'react'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/account.ts'
import { Section } from '../../ui/section.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { AddAddressForm } from './add-address-form.tsx'
import { AllowListEntries } from './allow-list-entries.tsx'
import { AllowListWarning } from './allow-list-warning.tsx'
import { covers } from './covers.ts'
import { apiAccessKey, type ApiAccess } from './use-api-access.ts'

/** The allow-list changes entry by entry; what would lock somebody out is asked about first. */
export function AllowListSection({ allowList, you }: Pick<ApiAccess, 'allowList' | 'you'>) {
  const { accountId, canChange } = useAccount()
  /** A list that is not saved before its warning was read. */
  const [asking, setAsking] = useState<string[]>()
  const save = useChange({
    change: (allowList: string[]) => settings.publicApi.setAllowList.mutate({ accountId, allowList }),
    invalidates: [apiAccessKey(accountId)],
    done: 'The allow-list is saved.',
    onDone: () => setAsking(undefined),
    onFailure: () => setAsking(undefined),
  })
  const propose = (next: string[]) => {
    const locksOut = you.allowed && covers(next, you.address) === false
    const opensToAll = next.length === 0 && allowList.length > 0
    if (locksOut || opensToAll) setAsking(next)
    else save.mutate(next)
  }
  return (
    <Section
      title="IP allow-list"
      description="When it has entries, the API answers only requests from these addresses. The dashboard can be opened from everywhere."
      actions={allowList.length === 0 && <StatusBadge tone="neutral">Every address may call</StatusBadge>}
    >
      <Stack>
        <AllowListEntries
          allowList={allowList}
          you={you}
          pending={save.isPending}
          onRemove={(entry) => propose(allowList.filter((other) => other !== entry))}
        />
        {canChange && (
          <AddAddressForm
            offered={covers(allowList, you.address) && allowList.length > 0 ? undefined : you.address}
            pending={save.isPending}
            error={save.error}
            saved={save.isSuccess ? save.data : undefined}
            onAdd={(entries) => propose([...new Set([...allowList, ...entries])])}
          />
        )}
      </Stack>
      <AllowListWarning
        proposed={asking}
        address={you.address}
        pending={save.isPending}
        onSave={save.mutate}
        onClose={() => setAsking(undefined)}
      />
    </Section>
  )
}
