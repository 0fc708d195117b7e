import { t } from '@lingui/core/macro'
import { useAccount } from '../../session/session.ts'
import { CopyField } from '../../ui/copy.tsx'
import { Section } from '../../ui/page.tsx'

/** Says how a person is erased: it searches everything that is stored, so only an operator can do it, by a command. */
export function EraseSection() {
  const { accountId } = useAccount()
  return (
    <Section
      title={t`Erase a person`}
      description={t`For people who ask you to delete their data (GDPR). Waybill removes the number from everything that it stores. Their messages stay in the log without a recipient, and an opt-out still applies.`}
    >
      <CopyField
        wraps
        label={t`Command`}
        description={t`Ask an operator of this server to run it, with the person’s number in place of NUMBER.`}
        value={`waybill recipient erase NUMBER --account ${accountId}`}
      />
    </Section>
  )
}
