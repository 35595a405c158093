/*
 * The document without its discriminators. Of a union with one the generator makes an enum of serde that writes the word
 * which tells its types apart beside the field of each type: `action` twice, which the service refuses, and reads an
 * answer without it. Of a union without one it makes an enum that goes by the fields, and these words have one value each.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const document = JSON.parse(readFileSync(process.env.DOCUMENT, 'utf8'));
const withoutDiscriminators = (key, value) => (key === 'discriminator' ? undefined : value);
writeFileSync('openapi.json', JSON.stringify(document, withoutDiscriminators));
