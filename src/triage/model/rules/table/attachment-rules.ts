import { isBodyPart } from '../../../evidence/tool-plumbing.js';
import { anyOf, isTrue, type Look, reads, type Rule, says, together, keys } from '../rule.js';
import { FILE_KEYS, isMail } from './mail-looks.js';

const ATTACHMENT = {
  group: 'mail',
  category: 'malware_delivery',
  mitre: ['T1566.001', 'T1204.002'],
} as const;
/** Also with words behind it: a name goes on as its writer likes. */
const RUNS =
  /\.(?:exe|scr|pif|bat|cmd|ps1|vbs|vbe|js|jse|wsf|wsh|hta|lnk|msi|iso|img|vhdx?|one|svg|s?html?|docm|xlsm|pptm|xll|jar|cpl|chm)(?![\p{L}\p{N}])/iu;

const runs = reads(FILE_KEYS, RUNS);
const attached: Look = {
  at: `${runs.at}, but not the text of the mail, which gateways list as a part`,
  find: (facts) => runs.find(facts).filter(({ value }) => !isBodyPart(String(value))),
};

export const ATTACHMENT_RULES: readonly Rule[] = [
  {
    ...ATTACHMENT,
    name: 'attachment_runs',
    points: 35,
    explanation: 'The attachment is of a kind that runs code when it is opened.',
    look: together(attached, isMail),
  },
  {
    ...ATTACHMENT,
    name: 'type_runs',
    points: 25,
    explanation: 'The type of the attachment is one that runs code.',
    look: together(
      reads(
        keys(`mimetype contenttype type filetype magic filemimetype`),
        /x-msdownload|dosexec|iso9660|x-iso|application\/hta|onenote|macroenabled|x-ms-shortcut|windows script/i,
      ),
      isMail,
    ),
  },
  {
    ...ATTACHMENT,
    name: 'macros_present',
    points: 25,
    explanation: 'The document holds macros.',
    look: isTrue(...keys(`macros hasmacros macro containsmacros vba hasvba`)),
  },
  {
    ...ATTACHMENT,
    name: 'double_ending',
    points: 35,
    explanation: 'A file hides what it is behind a second ending.',
    look: reads(
      FILE_KEYS,
      /\.(?:pdf|docx?|xlsx?|jpe?g|png|wav|mp3|txt|zip)\.[a-z]{2,5}(?![\p{L}\p{N}])/iu,
    ),
  },
  {
    ...ATTACHMENT,
    name: 'macros_start',
    points: 35,
    explanation: 'The document starts macros, or unpacks something, by itself.',
    look: says('download_sample'),
  },
  {
    ...ATTACHMENT,
    name: 'locked_archive',
    points: 20,
    explanation: 'The archive is locked and its password is in the mail, which keeps scanners out.',
    look: anyOf(
      together(isTrue('encrypted', 'passwordprotected'), isMail),
      says('archive_password'),
    ),
  },
  {
    ...ATTACHMENT,
    name: 'human_check',
    points: 20,
    explanation:
      'A page pretends to check for humans, as those do that make people paste commands.',
    look: says('human_check'),
  },
];
