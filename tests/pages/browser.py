#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages that Heliox writes, in a headless browser: they render, and their scripts run without an error.

usage: browser.py HELIOX EXAMPLES-DIRECTORY
Exit status 77, with the reason, where there is no Chromium (HELIOX_REQUIRE_BROWSER=1 makes that a failure).
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--allow-file-access-from-files",
         "--window-size=1200,900", "--virtual-time-budget=4000"]

# Before any script of the page: every error is kept, and so is every attempt to load something.
BEFORE = """<script>window.faults=[];addEventListener('error',e=>faults.push(e.message||('cannot load '+e.target.src)),true);
addEventListener('unhandledrejection',e=>faults.push(String(e.reason)));</script>"""
# After them: what a user does, and what the page then shows, as an attribute of the document.
AFTER = """<script>addEventListener('load',()=>{const r={};try{%s}catch(e){faults.push('exercise: '+e.message)}
r.faults=faults;r.loads=performance.getEntriesByType('resource').map(x=>x.name);
document.documentElement.setAttribute('data-report',JSON.stringify(r))})</script>"""

# A program's page: search, choose an operation, zoom, drag.
PROGRAM = """
const find=document.getElementById('find'),svg=document.getElementById('picture'),stage=document.getElementById('stage');
const send=(t,e)=>t.dispatchEvent(e),nodes=[...svg.querySelectorAll('.n')];
r.nodes=nodes.length;r.edges=svg.querySelectorAll('.e').length;r.width=nodes[0].getBoundingClientRect().width;
find.value='rotate';send(find,new Event('input'));r.count=document.getElementById('count').textContent;
r.hits=svg.querySelectorAll('.n.hit').length;find.value='';send(find,new Event('input'));
const b=svg.viewBox.baseVal,w=b.width,x=b.x;
send(stage,new WheelEvent('wheel',{deltaY:1,clientX:300,clientY:300,cancelable:true}));r.zoomed=b.width>w;
const at=(t,o)=>new PointerEvent(t,Object.assign({bubbles:true},o));
send(stage,at('pointerdown',{clientX:100,clientY:200}));send(window,at('pointermove',{clientX:160,clientY:200}));
send(window,at('pointerup',{clientX:160,clientY:200}));r.dragged=b.x<x;
send(nodes[1],at('pointerdown',{clientX:100,clientY:200}));send(nodes[1],at('pointerup',{clientX:100,clientY:200}));
r.facts=document.getElementById('facts').textContent;r.shown=document.getElementById('facts').style.display;
r.marked=svg.querySelectorAll('.n.on').length;
"""
# The page of a benchmark has no script; its drawings have a bar for every row.
BENCH = """
r.drawings=document.querySelectorAll('svg').length;r.bars=document.querySelectorAll('.bar').length;
r.rows=document.querySelectorAll('table tr').length-1;
r.widths=[...document.querySelectorAll('.bar')].map(x=>x.getBoundingClientRect().width);
"""


def chromium(browser, profile, *arguments):
    done = subprocess.run([browser, *FLAGS, "--user-data-dir=" + profile, *arguments], capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def report_of(browser, work, page, exercise):
    """What the exercised page says of itself."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    assert "<head>" in text and "</body>" in text, page + ": no head, or no end of the body"
    text = text.replace("<head>", "<head>" + BEFORE, 1).replace("</body>", AFTER % exercise + "</body>", 1)
    exercised = os.path.join(work, "exercised.html")
    with open(exercised, "w", encoding="utf-8") as file:
        file.write(text)
    code, dom, errors = chromium(browser, os.path.join(work, "profile"), "--dump-dom", "file://" + exercised)
    found = re.search(r'data-report="([^"]*)"', dom)
    assert code == 0 and found, f"{page}: the browser ended with {code} and no report:\n{errors[-2000:]}"
    return json.loads(found.group(1).replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def picture_of(path):
    """Width, height and rows of RGB bytes of a PNG as browsers write them: 8 bits, no interlacing."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, packed, channels, width, height = 8, b"", 0, 0, 0
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and colour in (2, 6) and interlaced == 0
            channels = 3 if colour == 2 else 4
        elif kind == b"IDAT":
            packed += body
        at += 12 + size
    raw, stride, before, rows = zlib.decompress(packed), width * channels, bytearray(width * channels), []
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a = line[i - channels] if i >= channels else 0
            b, c = before[i], before[i - channels] if i >= channels else 0
            if kind == 1:
                line[i] = (line[i] + a) & 255
            elif kind == 2:
                line[i] = (line[i] + b) & 255
            elif kind == 3:
                line[i] = (line[i] + (a + b) // 2) & 255
            elif kind == 4:
                p = a + b - c
                pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                line[i] = (line[i] + (a if pa <= pb and pa <= pc else b if pb <= pc else c)) & 255
        rows.append(line)
        before = line
    return width, height, channels, rows


def check_screenshot(browser, work, page):
    """The page as it is: a picture of the window's size with something on it, in several colours."""
    path = os.path.join(work, "page.png")
    code, _, errors = chromium(browser, os.path.join(work, "profile"), "--enable-logging=stderr", "--screenshot=" + path,
                               "file://" + page)
    assert code == 0 and os.path.exists(path), f"{page}: no screenshot (exit {code}):\n{errors[-2000:]}"
    told = [line for line in errors.splitlines() if "CONSOLE" in line]
    assert not told, f"{page}: the console says {told}"
    width, height, channels, rows = picture_of(path)
    colours, inked = set(), 0
    for row in rows[::2]:
        for x in range(0, width * channels, 2 * channels):
            colour = bytes(row[x:x + 3])
            colours.add(colour)
            inked += colour != b"\xff\xff\xff"
    share = inked / ((width // 2) * (height // 2))
    assert width == 1200 and height >= 800, f"{page}: the picture has {width} x {height}"
    assert len(colours) >= 8 and share > 0.005, f"{page}: {len(colours)} colours, {share:.2%} of the picture is not white"
    print(f"{os.path.basename(page)}: {width} x {height}, {len(colours)} colours, {share:.1%} drawn")


def run(*arguments, **options):
    done = subprocess.run(arguments, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{arguments} ended with {done.returncode}: {done.stderr}"


def main():
    heliox, examples = sys.argv[1], sys.argv[2]
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        print("no Chromium here (package chromium)")
        return 1 if os.environ.get("HELIOX_REQUIRE_BROWSER") == "1" else 77
    work = tempfile.mkdtemp(prefix="heliox-pages.")
    try:
        broken = os.path.join(work, "broken.html")  # first that errors are seen at all
        with open(broken, "w", encoding="utf-8") as file:
            file.write("<html><head></head><body><script>nowhere.at.all()</script></body></html>")
        assert report_of(browser, work, broken, "")["faults"], "an error in a script is not seen"

        for program, fewest in (("wdbc", 20), ("product128", 350)):
            page = os.path.join(work, program + ".html")
            run(heliox, "emit", os.path.join(examples, program + ".mlir"), "--as", "html", "-o", page)
            said = report_of(browser, work, page, PROGRAM)
            assert said["faults"] == [] and said["loads"] == [], said
            assert said["nodes"] >= fewest and said["edges"] >= fewest and said["width"] > 0, said
            assert said["hits"] > 0 and said["count"] == f"{said['hits']} found", said
            assert said["zoomed"] and said["dragged"], said
            assert said["shown"] == "block" and len(said["facts"]) > 10 and said["marked"] >= 2, said
            check_screenshot(browser, work, page)

        page = os.path.join(work, "bench.html")
        run(heliox, "bench", "--suite", "ckks", "--params", "n12-d1-s30", "--samples", "3", "--html", page)
        said = report_of(browser, work, page, BENCH)
        assert said["faults"] == [] and said["loads"] == [], said
        assert said["drawings"] >= 1 and said["bars"] == said["rows"] >= 8, said
        assert all(width > 0 for width in said["widths"]), said
        check_screenshot(browser, work, page)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 0


sys.exit(main())
