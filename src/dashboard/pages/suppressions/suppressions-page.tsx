import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useAccount } from '../../session/session.ts'
import { PageHeader } from '../../ui/page.tsx'
import { AddSection } from './add-section.tsx'
import { CategoriesSection } from './categories-section.tsx'
import { EraseSection } from './erase-section.tsx'
import { ListSection } from './list-section.tsx'

export function SuppressionsPage() {
  const { canChange } = useAccount()
  return (
    <>
      <PageHeader
        title={t`Suppressions`}
        description={t`Recipients who opted out. Waybill rejects the messages that they stopped: some categories, or all.`}
        actions={
          canChange && (
            <Button component={Link} to="#add" leftSection={<IconPlus size={16} />}>
              <Trans>Add recipients</Trans>
            </Button>
          )
        }
      />
      <ListSection />
      {canChange && <AddSection />}
      <CategoriesSection />
      {!canChange && <AddSection />}
      {canChange && <EraseSection />}
    </>
  )
}
